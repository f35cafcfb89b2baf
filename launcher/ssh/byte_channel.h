#pragma once
// Bytes to and from one program: over SSH, or beside us on this machine. Nothing blocks. One thread.
#include <QByteArray>
#include <optional>

namespace loom {

class ByteChannel {
 public:
  virtual ~ByteChannel() = default;
  // Becomes readable when something may have come.
  virtual int descriptor() const = 0;
  // All that is there; empty when nothing is. Throws Error(communication) when the line broke.
  virtual QByteArray read() = 0;
  // How many bytes were taken; the rest is to be offered again soon. Throws as read().
  virtual qint64 write(const char* data, qint64 size) = 0;
  virtual void closeInput() = 0;
  // The program has ended or closed its output, and everything of it was read.
  virtual bool ended() const = 0;
  virtual std::optional<int> exitCode() const = 0;
  // The end of what the program said on standard error.
  virtual QByteArray complaint() const = 0;
};

}  // namespace loom
