/* Part of the Fusion project, under the Apache License v2.0 with LLVM
   Exceptions. See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* With LIBRARY, a runtime of the future, with one function more than that of
   today; without, a program that was built for it. */
#ifdef LIBRARY
int fusionRtOfTheFuture(void) { return 0; }
#else
int fusionRtOfTheFuture(void);
int main(void) { return fusionRtOfTheFuture(); }
#endif
