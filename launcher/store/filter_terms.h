#pragma once
// What single parts of a RunFilter say of a run: of what its record has, of one value of a setting. Pure functions.
#include <QString>
#include <QStringMatcher>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "launcher/store/run_filter.h"

namespace loom {

inline constexpr const char* kTagKey = "tag";
inline const QString kDeletedState = QStringLiteral("deleted"), kArchivedState = QStringLiteral("archived");

// What a record itself says under a name; a setting of the same name comes after it.
struct RecordField {
  const char* name;
  QString (*of)(const RunRecord& run);
  double (*number)(const RunRecord& run) = nullptr;  // the same, where it always is one
};
std::span<const RecordField> recordFields();
const RecordField* recordField(std::string_view key);  // null: there is none of this name

// Whether a setting is called so: by its whole name, by its last part, or by the group whose "name" it is ("optimizer"
// for optimizer.name). `key` in small letters.
bool isCalled(std::string_view setting, std::string_view key);

// A word that is looked for wherever a run has text.
class SoughtWord {
 public:
  explicit SoughtWord(const QString& word);
  bool isInRecord(const RunRecord& run) const;  // beside its settings
  bool isInValue(const Json& setting) const;

 private:
  QString m_word;
  QStringMatcher m_matcher;
  std::string m_letters;  // the same where it is of plain letters
  bool m_ofNumber = false;
  std::array<bool, static_cast<std::size_t>(RunState::failed) + 1> m_inState{};
};

// Of comparisons: with the run's tags, with what its record has, with the value of a setting (null: it has none).
bool holdsForTags(const FilterTerm& term, const RunRecord& run);
bool holdsForField(const FilterTerm& term, const RecordField& field, const RunRecord& run);
bool holdsForValue(const FilterTerm& term, const Json* setting);

}  // namespace loom
