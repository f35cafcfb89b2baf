#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "engine/catalogue/entry.h"
#include "engine/catalogue/text.h"

namespace loom {
namespace {

// Optimal string alignment distance (Levenshtein and swapped neighbours), at most `limit` + 1.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  std::vector<std::size_t> before(a.size() + 1), last(a.size() + 1), now(a.size() + 1);
  for (std::size_t i = 0; i <= a.size(); ++i) last[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    now[0] = j;
    std::size_t least = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      now[i] = std::min({last[i] + 1, now[i - 1] + 1, last[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[i] = std::min(now[i], before[i - 2] + 1);
      least = std::min(least, now[i]);
    }
    if (least > limit) return limit + 1;
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[a.size()];
}

// "BatchNormalization" -> "bn": the capitals of its humps.
std::string initials(std::string_view id) {
  std::string result;
  for (std::size_t i = 0; i < id.size(); ++i)
    if (i == 0 || (id[i] >= 'A' && id[i] <= 'Z') || (i > 0 && (id[i - 1] == '_' || id[i - 1] == ' '))) result += id[i];
  return folded(result);
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (char c : folded(text))
    if (c != ' ' && c != '_' && c != '-') result += c;
  return result;
}

// Whether a word inside `name` (a hump, or after a blank) begins with `query`.
bool beginsWord(std::string_view name, std::string_view query) {
  for (std::size_t i = 1; i < name.size(); ++i) {
    const bool start =
        (name[i] >= 'A' && name[i] <= 'Z') || name[i - 1] == ' ' || name[i - 1] == '_' || name[i - 1] == '-';
    if (start && folded(name.substr(i)).starts_with(query)) return true;
  }
  return false;
}

// Smaller is better; -1 = no match.
int rank(const Entry& entry, const std::string& query) {
  std::vector<std::string_view> names{entry.id, entry.label};
  const auto own = names.size();
  names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  for (const Relative& relative : entry.relatives) names.push_back(relative.name);
  int best = -1;
  const auto offer = [&](int value) {
    if (best < 0 || value < best) best = value;
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int alias = i < own ? 0 : 1;
    const std::string name = squeezed(names[i]);
    if (name == query) offer(alias);
    // A word of the name itself comes before the beginning of another name for it.
    if (name.starts_with(query)) offer(alias ? 31 : 10);
    if (query.size() > 1 && initials(names[i]) == query) offer(20 + alias);
    if (beginsWord(names[i], query)) offer(alias ? 32 : 30);
    if (name.find(query) != std::string::npos) offer(40 + alias);
    // What was typed so far may hold a slip: compare with as much of the name.
    if (query.size() >= 4 && distance(name.substr(0, query.size()), query, query.size() / 4) <= query.size() / 4)
      offer(60 + alias);
  }
  if (query.size() >= 3 && squeezed(entry.summary).find(query) != std::string::npos) offer(50);
  return best;
}

}  // namespace

std::vector<const Entry*> search(const std::vector<const Entry*>& entries, std::string_view query) {
  const std::string wanted = squeezed(query);
  if (wanted.empty()) return entries;
  std::vector<std::pair<int, const Entry*>> found;
  for (const Entry* entry : entries)
    if (const int place = rank(*entry, wanted); place >= 0) found.emplace_back(place, entry);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Entry*> result;
  for (const auto& [place, entry] : found) result.push_back(entry);
  return result;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > 100) return {};
  const std::string wanted = folded(word);
  const std::size_t limit = std::max<std::size_t>(1, std::min<std::size_t>(4, word.size() / 3));
  std::string best;
  std::size_t least = limit + 1;
  for (const std::string& candidate : known) {
    const std::size_t now = distance(wanted, folded(candidate), limit);
    if (now < least) {
      least = now;
      best = candidate;
    }
  }
  // "x" is not a slip of "y": a single letter must differ in case only.
  if (least > 0 && wanted.size() == 1) return {};
  return best;
}

std::string nearestKey(std::string_view key, const std::vector<std::string>& known) {
  if (key.empty() || key.size() > 100) return {};
  const auto last = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
  const std::string wanted = squeezed(last(key));
  std::vector<std::string> lasts;
  for (const std::string& each : known) lasts.emplace_back(last(each));
  const auto first = [&](auto&& fits) -> std::string {
    const auto found = std::find_if(lasts.begin(), lasts.end(), fits);
    return found == lasts.end() ? std::string() : known[static_cast<std::size_t>(found - lasts.begin())];
  };
  const std::string slip = nearest(last(key), lasts);
  std::string meant = slip.empty() ? std::string() : first([&](const std::string& each) { return each == slip; });
  if (meant.empty() && wanted.size() > 1)
    meant = first([&](const std::string& each) { return initials(each) == wanted; });
  if (meant.empty() && wanted.size() > 2)
    meant =
        first([&](const std::string& each) { return squeezed(each).starts_with(wanted) || beginsWord(each, wanted); });
  if (meant.empty())
    meant = first([&](const std::string& each) { return each.size() > 3 && wanted.starts_with(squeezed(each)); });
  return meant;
}

std::string unknownKey(std::string_view key, const std::vector<std::string>& known,
                       const std::vector<std::string>& elsewhere) {
  constexpr std::size_t kFew = 12;
  std::vector<std::string> all = known;
  all.insert(all.end(), elsewhere.begin(), elsewhere.end());
  std::string rest = "nothing has a key here";
  if (const std::string near = nearestKey(key, all); !near.empty())
    rest = fmt::format("did you mean '{}'?", near);
  else if (known.size() > kFew)
    rest = fmt::format("none of the {} that are known is like it", all.size());
  else if (!known.empty())
    rest = fmt::format("known are {}", fmt::join(known, ", "));
  return fmt::format("unknown key '{}': {}", clipped(key), rest);
}

}  // namespace loom
