#include "engine/data/near_name.h"

#include "engine/data/text.h"

namespace loom {
namespace {

unsigned char lowered(char c) {
  return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

bool sameButCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lowered(a[i]) != lowered(b[i])) return false;
  return true;
}

// U+0300 to U+036F, the accents of letters that are written apart.
bool isAccent(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  return at + 1 < text.size() && (byte(at) == 0xcc || (byte(at) == 0xcd && byte(at + 1) <= 0xaf));
}

// Whether `apart` (a base letter and its accents) may be what `whole` writes as one letter of two or three bytes. Which
// letter that is would take Unicode's tables; two entries of one folder that differ by that alone are hardly to be
// found.
bool sameButForm(std::string_view whole, std::string_view apart) {
  std::size_t i = 0, k = 0;
  bool formed = false;
  while (i < whole.size() && k < apart.size()) {
    if (k + 1 < apart.size() && isAccent(apart, k + 1) && static_cast<unsigned char>(whole[i]) >= 0xc3) {
      i += static_cast<unsigned char>(whole[i]) >= 0xe0 ? 3 : 2;
      for (++k; isAccent(apart, k);) k += 2;
      formed = true;
    } else if (lowered(whole[i++]) != lowered(apart[k++])) {
      return false;
    }
  }
  return formed && i == whole.size() && k == apart.size();
}

}  // namespace

std::string nearName(const std::filesystem::path& path) {
  const std::string wanted = path.filename().string();
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), failed)) {
    const std::string name = entry.path().filename().string();
    if (sameButCase(wanted, name)) return "there is " + quotedText(name) + ", in other letter case";
    if (sameButForm(wanted, name) || sameButForm(name, wanted))
      return "there is " + quotedText(name) + ", whose accents are written otherwise (Unicode NFC and NFD)";
  }
  return {};
}

}  // namespace loom
