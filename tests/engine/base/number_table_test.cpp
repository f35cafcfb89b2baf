// A table of numbers by hashes answers as a plain list of them does, whatever came and went.
#include "engine/base/number_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace loom {
namespace {

TEST(NumberTable, AnswersAsAListWould) {
  std::mt19937 random(3);
  NumberTable table;
  std::vector<std::pair<std::size_t, NumberTable::Number>> all;
  // Few hashes, most of them beside each other: every chain is long, and some go round the end.
  const auto hash = [&] { return std::size_t{random() % 3 == 0 ? 0xfffffff0u + random() % 16 : random() % 24}; };
  for (int step = 0; step < 20000; ++step) {
    const auto number = static_cast<NumberTable::Number>(step);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        all.emplace_back(hash(), number), table.put(all.back().first, number);
        break;
      case 3:
      case 4:
      case 5:
        if (!all.empty()) {
          const std::size_t at = random() % all.size();
          table.take(all[at].first, all[at].second);
          all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
        }
        break;
      case 6:
        table.take(hash(), number);
        break;  // is not there
      default:
        if (step % 40 != 0) break;
        // Some go, the others get other numbers.
        const auto now = [&](NumberTable::Number old) { return old % 5 == 0 ? NumberTable::kNone : old + 100000; };
        table.renumber(now);
        std::erase_if(all, [](const auto& each) { return each.second % 5 == 0; });
        for (auto& [of, each] : all) each += 100000;
    }
    ASSERT_EQ(table.size(), all.size());
    const std::size_t wanted = hash();
    std::vector<NumberTable::Number> found, expected;
    table.find(wanted, [&](NumberTable::Number each) {
      found.push_back(each);
      return false;
    });
    for (const auto& [of, each] : all)
      if (of == wanted) expected.push_back(each);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(found, expected) << "step " << step;
    if (!expected.empty())
      ASSERT_EQ(table.find(wanted, [&](NumberTable::Number each) { return each == expected.back(); }), expected.back());
  }
  table.clear();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find(1, [](NumberTable::Number) { return true; }), NumberTable::kNone);
}

}  // namespace
}  // namespace loom
