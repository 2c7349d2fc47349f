// A fuzz target with one fault for each word that it knows.

#include <cstdint>
#include <cstring>

static void *volatile kept;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto is = [&](const char *word) {
    return size >= strlen(word) && memcmp(data, word, strlen(word)) == 0;
  };
  char *bytes = new char[4];
  kept = bytes;
  if (is("bounds"))
    static_cast<volatile char *>(kept)[size] = 1;
  int sum = INT32_MAX - (is("wrap") ? 0 : 1000);
  sum += static_cast<int>(size);
  if (!is("leak"))
    delete[] bytes;
  bytes = nullptr;
  kept = nullptr;
  return sum == 0;
}
