#include "engine/data/csv_format.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/cell_number.h"
#include "engine/data/csv_cells.h"
#include "engine/data/text.h"

namespace loom {
namespace {

constexpr std::size_t kLookedAt = std::size_t{256} << 10;
constexpr int kLines = 200;

std::string beginningOf(const std::filesystem::path& csv) {
  const int file = ::open(csv.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throwErrno(errno, "read", csv);
  struct stat status {};
  const bool folder = ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  std::string bytes(folder ? 0 : kLookedAt, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; size < bytes.size() && got != 0;) {
    got = ::read(file, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno != EINTR) {
      const int why = errno;
      ::close(file);
      throwErrno(why, "read", csv);
    }
    size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  ::close(file);
  if (folder) throwError(ErrorCode::badData, "{} is a folder; name the CSV file in it", csv.string());
  bytes.resize(size);
  return bytes;
}

// UTF-16 without its mark: every other byte of plain letters is zero.
bool looksLikeUtf16(std::string_view bytes, std::size_t zeros) {
  const std::size_t pairs = std::min<std::size_t>(bytes.size(), 4096) / 2;
  std::size_t met = 0, others = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    met += bytes[2 * i + zeros] == 0;
    others += bytes[2 * i + 1 - zeros] == 0;
  }
  return pairs > 1 && 2 * met > pairs && others == 0;
}

void recogniseEncoding(std::string_view bytes, const std::string& choice, CsvFormat& format) {
  const bool little = bytes.starts_with("\xff\xfe"), big = bytes.starts_with("\xfe\xff");
  if (choice == "windows-1252") {
    format.encoding = CsvEncoding::windows1252;
  } else if (choice == "utf-16" ||
             (choice == "auto" && (little || big || looksLikeUtf16(bytes, 1) || looksLikeUtf16(bytes, 0)))) {
    const bool swapped = big || (!little && looksLikeUtf16(bytes, 0));
    format.encoding = swapped ? CsvEncoding::utf16Big : CsvEncoding::utf16Little;
    format.mark = little || big;
  } else if (bytes.starts_with("\xef\xbb\xbf")) {
    format.mark = true;
  } else if (choice == "auto") {
    const std::size_t bad = findNonUtf8(bytes);
    // The last character may be cut in two; and what has bytes of control is no text of a small alphabet either.
    const bool text = std::none_of(bytes.begin(), bytes.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    });
    if (text && bad != std::string_view::npos && !(bytes.size() == kLookedAt && bad + 3 >= bytes.size()))
      format.encoding = CsvEncoding::windows1252;
  }
}

// "sep=;", as Excel writes it before the header.
char separatorOfLine(std::string_view line) {
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  if (line.size() != 5 || (line.substr(0, 4) != "sep=" && line.substr(0, 4) != "SEP=")) return 0;
  return line[4];
}

std::string_view firstLine(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Cells of the first lines, were `separator` what separates them.
std::vector<int> cellsByLine(std::string_view text, char separator) {
  std::vector<int> counts;
  const char* p = text.data();
  const char* const end = p + text.size();
  std::string scratch;
  while (p < end && counts.size() < kLines) {
    if (const char* blank = skipBlankLine(p, end)) {
      p = blank;
      continue;
    }
    int cells = 0;
    for (bool last = false; !last; ++cells) last = takeCell(p, end, scratch, separator).last;
    counts.push_back(cells);
  }
  return counts;
}

char recogniseSeparator(std::string_view text) {
  char best = ',';
  double bestShare = 0;
  for (const char separator : {',', ';', '\t'}) {
    const std::vector<int> counts = cellsByLine(text, separator);
    if (counts.empty() || counts[0] < 2) continue;
    const auto like = std::count(counts.begin(), counts.end(), counts[0]);
    const double share = static_cast<double>(like) / static_cast<double>(counts.size());
    if (share > bestShare && (share >= 0.5 || separator == ',')) {
      best = separator;
      bestShare = share;
    }
  }
  return best;
}

// How numbers are written: the way that reads most of the cells that are digits with marks between them.
void recogniseNumbers(std::string_view text, const CsvFormatChoice& choice, CsvFormat& format) {
  constexpr std::size_t kCells = 20'000;
  std::vector<std::string> marked;
  const char* p = text.data();
  const char* const end = p + text.size();
  std::string scratch;
  std::size_t seen = 0;
  for (bool header = format.header; p < end && seen < kCells; header = false) {
    for (bool last = false; !last; ++seen) {
      const CsvCell cell = takeCell(p, end, scratch, format.separator);
      last = cell.last;
      std::string_view text = cell.text;
      takePercent(text);
      const bool digits = text.size() < 40 && text.find_first_of("0123456789") != std::string_view::npos &&
                          text.find_first_not_of("0123456789+-.,' eE\xc2\xa0\xe2\x80\xaf") == std::string_view::npos;
      if (!header && digits && text.find_first_of(",.' \xa0\xaf") != std::string_view::npos) marked.emplace_back(text);
    }
  }
  struct Way {
    char decimal, thousands;
  };
  // In the order in which they are taken where several read as much. A comma in a cell of a file of commas was put into
  // quotes: of 1,234 it is rather the mark of thousands.
  const bool commas = format.separator == ',';
  const std::array<Way, 8> ways = {Way{'.', 0},
                                   commas ? Way{'.', ','} : Way{',', 0},
                                   commas ? Way{',', 0} : Way{'.', ','},
                                   Way{',', '.'},
                                   Way{'.', ' '},
                                   Way{',', ' '},
                                   Way{'.', '\''},
                                   Way{',', '\''}};
  const auto markOf = [](const std::string& name) -> char {
    return name == "comma" ? ',' : name == "point" ? '.' : name == "blank" ? ' ' : name == "apostrophe" ? '\'' : 0;
  };
  std::ptrdiff_t best = -1;
  for (const Way& way : ways) {
    if (choice.decimal != "auto" && way.decimal != (choice.decimal == "comma" ? ',' : '.')) continue;
    if (choice.thousands != "auto" && way.thousands != markOf(choice.thousands)) continue;
    CsvFormat tried = format;
    tried.decimal = way.decimal;
    tried.thousands = way.thousands;
    const auto read = std::count_if(marked.begin(), marked.end(),
                                    [&](const std::string& cell) { return plainNumber(cell, tried, scratch); });
    if (read > best) {
      best = read;
      format = tried;
    }
  }
  if (best < 0 && choice.thousands != "auto") format.thousands = markOf(choice.thousands);
  if (best < 0 && choice.decimal != "auto") format.decimal = choice.decimal == "comma" ? ',' : '.';
}

// Columns at least half of whose cells are percents. Others hold plain numbers or words, among which a percent is told.
void recognisePercents(std::string_view text, CsvFormat& format) {
  if (text.find('%') == std::string_view::npos) return;
  struct Counts {
    int percents = 0, others = 0;
  };
  std::vector<Counts> columns;
  const char* p = text.data();
  const char* const end = p + text.size();
  std::string scratch, plain;
  double value;
  for (bool header = format.header; p < end; header = false) {
    if (const char* blank = skipBlankLine(p, end)) {
      p = blank;
      continue;
    }
    std::size_t c = 0;
    for (bool last = false; !last; ++c) {
      const CsvCell cell = takeCell(p, end, scratch, format.separator);
      last = cell.last;
      if (header) continue;
      if (columns.size() <= c) columns.resize(c + 1);
      std::string_view number = cell.text;
      if (takePercent(number) && plainNumber(number, format, plain))
        ++columns[c].percents;
      else if (cellNumber(cell.text, format, value) != NumberKind::empty)
        ++columns[c].others;
    }
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].percents > 0 && columns[c].percents >= columns[c].others) {
      format.percents.resize(c + 1);
      format.percents[c] = true;
    }
}

// Windows-1252 from 0x80 to 0x9f; the rest is the number itself.
constexpr std::uint16_t kWindows[32] = {0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                        0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
                                        0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                        0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};

void appendCharacter(std::vector<char>& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

}  // namespace

std::size_t toUtf8(CsvEncoding encoding, std::string_view bytes, std::vector<char>& out) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (encoding == CsvEncoding::utf8) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return bytes.size();
  }
  if (encoding == CsvEncoding::windows1252) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      appendCharacter(out, byte(i) >= 0x80 && byte(i) < 0xa0 ? kWindows[byte(i) - 0x80] : byte(i));
    return bytes.size();
  }
  const std::size_t high = encoding == CsvEncoding::utf16Big ? 0 : 1;
  const auto unit = [&](std::size_t i) { return byte(i + high) << 8 | byte(i + 1 - high); };
  std::size_t i = 0;
  while (i + 2 <= bytes.size()) {
    const std::uint32_t first = unit(i);
    if (first < 0xd800 || first >= 0xe000) {
      appendCharacter(out, first);
      i += 2;
      continue;
    }
    if (i + 4 > bytes.size() && first < 0xdc00) break;
    const std::uint32_t second = first < 0xdc00 ? unit(i + 2) : 0;
    const bool pair = second >= 0xdc00 && second < 0xe000;
    appendCharacter(out, pair ? 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00) : 0xfffd);
    i += pair ? 4 : 2;
  }
  return i;
}

std::string CsvFormat::text() const {
  std::string text = separator == ','    ? "commas"
                     : separator == ';'  ? "semicolons"
                     : separator == '\t' ? "tabs"
                                         : fmt::format("'{}' between cells", separator);
  if (decimal == ',') text += ", decimal comma";
  if (thousands != 0)
    text += fmt::format(", {} between thousands", thousands == ' '    ? "a blank"
                                                  : thousands == '.'  ? "a point"
                                                  : thousands == '\'' ? "an apostrophe"
                                                                      : "a comma");
  std::string places;
  std::size_t columns = 0;
  for (std::size_t c = 0; c < percents.size(); ++c)
    if (percents[c]) places += fmt::format("{}{}", columns++ == 0 ? "" : ", ", c + 1);
  if (columns > 0) text += fmt::format(", percents in column{} {}", columns == 1 ? "" : "s", places);
  text += encoding == CsvEncoding::utf8          ? (mark ? ", UTF-8 with its mark" : ", UTF-8")
          : encoding == CsvEncoding::windows1252 ? ", Windows-1252"
                                                 : ", UTF-16";
  if (separatorLine) text += ", a line sep= before the header";
  if (!header) text += ", without a header";
  return text;
}

CsvFormat recogniseCsv(const std::filesystem::path& csv, const CsvFormatChoice& choice) {
  const std::string bytes = beginningOf(csv);
  if (bytes.empty())
    throwError(ErrorCode::badData,
               "{} is empty; a header such as 'x:image,y:label' and a line for each sample are needed", csv.string());
  const std::string_view kind = kindByContent(std::string_view(bytes).substr(0, 64));
  if (!kind.empty() && kind != "UTF-16 text")
    throwError(ErrorCode::badData, "{} is {}, but a CSV file is needed; save it as CSV (UTF-8)", csv.string(), kind);
  CsvFormat format;
  format.header = choice.header;
  recogniseEncoding(bytes, choice.encoding, format);
  std::vector<char> text;
  toUtf8(format.encoding, bytes, text);
  std::string_view seen(text.data(), text.size());
  if (seen.starts_with("\xef\xbb\xbf")) seen.remove_prefix(3);
  if (const char separator = separatorOfLine(firstLine(seen)); separator != 0) {
    format.separatorLine = true;
    format.separator = separator;
    seen.remove_prefix(std::min(seen.find('\n'), seen.size() - 1) + 1);
  }
  // A line that was cut in two says nothing.
  if (bytes.size() == kLookedAt)
    if (const auto last = seen.rfind('\n'); last != std::string_view::npos) seen = seen.substr(0, last + 1);
  if (choice.separator != "auto")
    format.separator = choice.separator == "semicolon" ? ';' : choice.separator == "tab" ? '\t' : ',';
  else if (!format.separatorLine)
    format.separator = recogniseSeparator(seen);
  recogniseNumbers(seen, choice, format);
  recognisePercents(seen, format);
  return format;
}

}  // namespace loom
