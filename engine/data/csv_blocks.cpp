#include "engine/data/csv_blocks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/text.h"

namespace loom {

CsvBlockReader::CsvBlockReader(const std::filesystem::path& path, std::size_t blockBytes, const CsvFormat& format)
    : m_path(path), m_format(format), m_blockBytes(std::max<std::size_t>(blockBytes, 64)) {
  m_file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (m_file < 0) throwErrno(errno, "read", path);
  struct stat status {};
  if (::fstat(m_file, &status) != 0) throwErrno(errno, "read", path);
  if (S_ISDIR(status.st_mode)) {
    ::close(m_file);
    throwError(ErrorCode::badData, "{} is a folder; name the CSV file in it", path.string());
  }
  m_fileSize = status.st_size;
  try {
    fill();
    const std::string_view start(m_pending.data(), m_end);
    if (start.empty())
      throwError(ErrorCode::badData,
                 "{} is empty; a header such as 'x:image,y:label' and a line for each sample are needed",
                 path.string());
    if (const auto kind = kindByContent(start.substr(0, 64)); !kind.empty())
      throwError(ErrorCode::badData, "{} is {}, but a CSV file is needed; save it as CSV (UTF-8)", path.string(), kind);
    if (start.substr(0, 3) == "\xef\xbb\xbf") m_begin = 3;
    if (m_format.separatorLine) {
      m_begin = std::min(start.find('\n', m_begin), m_end - 1) + 1;
      m_line = 2;
    }
    m_given = bytesInFile(start.substr(0, m_begin));
  } catch (...) {
    ::close(m_file);
    throw;
  }
}

CsvBlockReader::~CsvBlockReader() {
  if (m_file >= 0) ::close(m_file);
}

// Makes room behind what is pending and reads once. False at the end of the file.
bool CsvBlockReader::fill() {
  if (m_atEnd) return false;
  if (m_begin > 0) {
    std::memmove(m_pending.data(), m_pending.data() + m_begin, m_end - m_begin);
    m_end -= m_begin;
    m_begin = 0;
  }
  const std::size_t wanted = std::max(m_blockBytes, m_end);
  if (m_format.encoding != CsvEncoding::utf8) {
    const std::size_t left = m_raw.size();
    m_raw.resize(left + wanted);
    const std::size_t got = readSome(m_raw.data() + left, wanted);
    m_raw.resize(left + got);
    if (got == 0) m_atEnd = true;
    m_pending.resize(m_end);
    const std::size_t used = toUtf8(m_format.encoding, {m_raw.data(), m_raw.size()}, m_pending);
    m_raw.erase(m_raw.begin(), m_raw.begin() + static_cast<std::ptrdiff_t>(used));
    m_end = m_pending.size();
    return got > 0;
  }
  if (m_pending.size() < m_end + wanted) m_pending.resize(m_end + wanted);
  const std::size_t got = readSome(m_pending.data() + m_end, m_pending.size() - m_end);
  if (got == 0) m_atEnd = true;
  m_end += got;
  return got > 0;
}

std::size_t CsvBlockReader::readSome(char* to, std::size_t bytes) {
  for (;;) {
    const ssize_t got = ::read(m_file, to, bytes);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throwErrno(errno, "read", m_path);
  }
}

// What text that was handed out takes in the file's own encoding.
std::int64_t CsvBlockReader::bytesInFile(std::string_view text) const {
  if (m_format.encoding == CsvEncoding::utf8) return static_cast<std::int64_t>(text.size());
  std::int64_t characters = 0, pairs = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    characters += (byte & 0xc0) != 0x80;
    pairs += byte >= 0xf0;
  }
  return m_format.encoding == CsvEncoding::windows1252 ? characters : 2 * (characters + pairs);
}

void CsvBlockReader::seek(std::int64_t byte, std::int64_t line) {
  if (::lseek(m_file, byte, SEEK_SET) < 0) throwErrno(errno, "read", m_path);
  m_begin = m_end = 0;
  m_raw.clear();
  m_atEnd = false;
  m_given = byte;
  m_line = line;
}

// The end of the last whole record among what is pending, 0 when there is none.
std::size_t CsvBlockReader::findEnd(std::int64_t records, std::int64_t& lines, bool& quotes) {
  const char* const begin = m_pending.data() + m_begin;
  const std::size_t available = std::min(m_end - m_begin, std::max(m_blockBytes, std::size_t{1}));
  const auto scan = [&](std::size_t size) -> std::size_t {
    quotes = std::memchr(begin, '"', size) != nullptr;
    lines = 0;
    if (!quotes && records == INT64_MAX) {
      const void* last = memrchr(begin, '\n', size);
      if (!last) return 0;
      const std::size_t end = static_cast<std::size_t>(static_cast<const char*>(last) - begin) + 1;
      lines = std::count(begin, begin + end, '\n');
      return end;
    }
    // A quote opens a cell only where the cell begins with it; elsewhere it is text, as the tokeniser reads it too.
    std::size_t end = 0;
    std::int64_t seen = 0, done = 0;
    bool inside = false, cellBegins = true;
    for (std::size_t i = 0; i < size; ++i) {
      const char c = begin[i];
      if (inside) {
        if (c == '\n') ++seen;
        if (c == '"') {
          if (i + 1 < size && begin[i + 1] == '"')
            ++i;
          else
            inside = false;
        }
        continue;
      }
      if (c == '"' && cellBegins) inside = true;
      cellBegins = c == m_format.separator || c == '\n';
      if (c == '\n') {
        ++seen;
        end = i + 1;
        lines = seen;
        if (++done == records) break;
      }
    }
    return end;
  };
  const std::size_t end = scan(available);
  // A record longer than a block: look at all there is.
  return end > 0 || available == m_end - m_begin ? end : scan(m_end - m_begin);
}

bool CsvBlockReader::next(CsvBlock& block, std::int64_t records) {
  std::size_t end = 0;
  std::size_t looked = 0;
  for (;;) {
    while (!m_atEnd && m_end - m_begin < m_blockBytes) fill();
    const std::size_t available = m_end - m_begin;
    // Records that grow beyond the buffer are looked at again only when it has doubled.
    if (available > looked * 2 || m_atEnd) {
      end = findEnd(records, block.lines, block.quotes);
      looked = available;
    }
    if (end > 0) break;
    if (m_atEnd) {
      if (available == 0) return false;
      end = available;  // a last line without a line break
      block.quotes = true;
      block.lines = 1 + std::count(m_pending.data() + m_begin, m_pending.data() + m_end, '\n');
      break;
    }
    if (available > kLongestRecord)
      throwError(ErrorCode::badData,
                 "{} line {}: the line goes on for more than {}; lines must be shorter: either the file has no line "
                 "breaks, or a "
                 "quote that is opened here is never closed",
                 m_path.filename().string(), m_line, sizeText(kLongestRecord));
    fill();
  }
  block.buffer.resize(std::max(block.buffer.size(), end + 2));
  std::memcpy(block.buffer.data(), m_pending.data() + m_begin, end);
  block.size = end;
  if (block.buffer[end - 1] != '\n') block.buffer[block.size++] = '\n';
  block.buffer[block.size] = '\0';
  block.line = m_line;
  m_given += bytesInFile({m_pending.data() + m_begin, end});
  m_begin += end;
  block.end = m_given;
  m_line += block.lines;
  return true;
}

}  // namespace loom
