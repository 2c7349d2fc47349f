//===- File.cpp - Files read whole and written whole ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading a file into memory and replacing one atomically.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/Package.h"
#include "fusion/Executable/StagedFile.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fusionpkg {

static std::string describeErrno(const std::string &path) {
  return "'" + path + "': " + std::strerror(errno);
}

Result<std::string> readFile(const std::string &path, uint64_t maxBytes) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return Error(ErrorCode::PackageUnreadable, describeErrno(path));
  std::string bytes;
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
      static_cast<uint64_t>(info.st_size) <= maxBytes)
    bytes.reserve(static_cast<size_t>(info.st_size));

  std::vector<char> chunk(1 << 16);
  while (true) {
    ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      Error error(ErrorCode::PackageUnreadable, describeErrno(path));
      ::close(fd);
      return error;
    }
    if (got == 0)
      break;
    if (bytes.size() + static_cast<uint64_t>(got) > maxBytes) {
      ::close(fd);
      return Error(ErrorCode::PackageTooLarge,
                   "'" + path + "' holds more than " +
                       std::to_string(maxBytes) + " bytes");
    }
    bytes.append(chunk.data(), static_cast<size_t>(got));
  }
  ::close(fd);
  return bytes;
}

static TemporaryFileWatcher temporaryFileWatcher = nullptr;

void setTemporaryFileWatcher(TemporaryFileWatcher watcher) {
  temporaryFileWatcher = watcher;
}

bool isSameFile(const std::string &a, const std::string &b) {
  struct stat left, right;
  return ::stat(a.c_str(), &left) == 0 && ::stat(b.c_str(), &right) == 0 &&
         S_ISREG(left.st_mode) && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

/// Writes all of `bytes` and flushes them to the disk; false sets errno.
static bool writeAll(int fd, const std::string &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    done += static_cast<size_t>(put);
  }
  return ::fsync(fd) == 0 || errno == EINVAL; // EINVAL: not a disk
}

/// Writes into a device, such as /dev/null, which cannot be replaced.
static Error writeDevice(const std::string &path, const std::string &bytes) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return Error(ErrorCode::PackageWrite, describeErrno(path));
  Error error;
  if (!writeAll(fd, bytes))
    error = Error(ErrorCode::PackageWrite, describeErrno(path));
  ::close(fd);
  return error;
}

/// Opens a new file beside `path`, of which the watcher knows; -1 sets errno. A
/// name of our own rather than mkstemp's, so that the mode follows the
/// process's mask.
static int openBeside(const std::string &path, std::string &temporary) {
  TemporaryFileWatcher watcher = temporaryFileWatcher;
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = path + ".tmp" + std::to_string(::getpid()) + "." +
                std::to_string(counter++);
    if (watcher)
      watcher(temporary.c_str(), true);
    int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    0666);
    if (fd >= 0)
      return fd;
    int openErrno = errno;
    if (watcher)
      watcher(temporary.c_str(), false);
    errno = openErrno;
    if (errno != EEXIST)
      break;
  }
  temporary.clear();
  return -1;
}

Result<StagedFile> StagedFile::write(const std::string &path,
                                     const std::string &bytes) {
  StagedFile file(path);
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return Error(ErrorCode::PackageWrite, describeErrno(path));
  }
  if (exists && !S_ISREG(info.st_mode)) {
    if (::access(path.c_str(), W_OK) != 0)
      return Error(ErrorCode::PackageWrite, describeErrno(path));
    file.isForDevice = true;
    file.forDevice = bytes;
    return Result<StagedFile>(std::move(file));
  }
  int fd = openBeside(path, file.temporary);
  if (fd < 0)
    return Error(ErrorCode::PackageWrite, describeErrno(path));
  bool good = writeAll(fd, bytes) &&
              (!exists || ::fchmod(fd, info.st_mode & 07777) == 0);
  int savedErrno = errno;
  if (::close(fd) != 0 && good) {
    good = false;
    savedErrno = errno;
  }
  if (good)
    return Result<StagedFile>(std::move(file));
  errno = savedErrno;
  return Error(ErrorCode::PackageWrite, describeErrno(path));
}

StagedFile::StagedFile(StagedFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      isForDevice(other.isForDevice), forDevice(std::move(other.forDevice)) {
  other.temporary.clear();
}

StagedFile::~StagedFile() {
  if (temporary.empty())
    return;
  ::unlink(temporary.c_str());
  forget();
}

/// The temporary file is gone.
void StagedFile::forget() {
  if (temporaryFileWatcher)
    temporaryFileWatcher(temporary.c_str(), false);
  temporary.clear();
}

Error StagedFile::commit() {
  if (isForDevice)
    return writeDevice(path, forDevice);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return Error(ErrorCode::PackageWrite, describeErrno(path));
  forget();
  return {};
}

Error writeFileAtomically(const std::string &path, const std::string &bytes) {
  Result<StagedFile> file = StagedFile::write(path, bytes);
  return file ? file->commit() : file.getError();
}

} // namespace fusionpkg
