#pragma once
// A form built from a catalogue entry alone: one row a field, in the entry's order. The inspector, the settings page
// and every popover with fields use it. It holds the values that differ from the defaults and tells of each change at
// once; the owner puts the change into the document and hands the document's values back with setGiven().
#include <QHash>
#include <QWidget>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "engine/catalogue/entry.h"
#include "widgets/form/form_row.h"

class QLabel;
class QVBoxLayout;

namespace loom {

enum class FormStyle {
  inspector,  // narrow: label column 96, the field takes the rest
  page,       // label column 130, fields 142 wide, hints beside them, segments for short choices
};

class PropertyForm : public QWidget {
  Q_OBJECT

 public:
  explicit PropertyForm(FormStyle style = FormStyle::inspector, QWidget* parent = nullptr);
  ~PropertyForm() override;

  // `entry` must outlive the form or the next setEntry(). `identity` names the thing that is edited ("main/conv1"): a
  // text that is no value yet is kept under it and comes back with it.
  void setEntry(const Entry& entry, const Json& given, const QString& identity = {});
  void clear();
  // The document's values now (after undo, say). Rows whose value did not change are left alone, also half-typed ones.
  void setGiven(const Json& given);
  const Json& given() const { return m_given; }
  const Entry* entry() const { return m_entry; }

  // What others found (shapes that disagree, a file that is missing). The form adds what the entry itself says of the
  // values.
  void setProblems(const std::vector<FieldProblem>& problems);

  void setHeading(const QString& heading);    // "Parameters"; with the number of changed fields at its right
  void setBaseFolder(const QString& folder);  // for paths; holds from the next setEntry()
  // What expressions in the fields may name. Names hold from the next setEntry(), their values at once.
  void setSymbols(const Symbols& symbols);
  // The given values as they are where expressions have been computed: what the entry's own rules are asked about.
  // Fields whose expressions have no value yet are left out of it and of the rules. Without it the given values are.
  void setComputed(const Json& computed);
  // Fields whose things differ: each shows that until a value is given, which then is that of all, even where it is the
  // default. Their values in `given` mean nothing.
  void setMixed(const std::vector<std::string>& keys);
  void setHidden(const std::vector<std::string>& keys);  // fields that another place edits; from the next setEntry()
  // A computed remark beside the field ("= 110 steps"), with an optional action ("Use 3.2").
  void setHint(const std::string& key, const QString& hint, const QString& action = {});
  // Rows of the fields that `wanted` takes (null = all); `changedOnly` leaves only what differs and shows the default
  // struck through.
  using Wanted = std::function<bool(const Field& field)>;
  void setFilter(Wanted wanted, bool changedOnly = false);

  // Tab comes to the rows behind `field`: those of a new entry were made later than all that stands around them.
  void tabBehind(QWidget* field);

  // Texts that stand in rows and are no value: the value that is kept is another than what one reads.
  struct Unread {
    std::string key;
    QString label, problem;  // "Learning rate", "'abc' is no number"
    QString kept;            // the value that holds, as the row shows it
  };
  std::vector<Unread> unread() const;
  // Also of things that were edited here before, whose texts come back with them: by identity.
  QHash<QString, std::vector<Unread>> unreadOfAll() const;
  // Such a text gives way to the value.
  void takeBack(const std::string& key);
  void takeBack(const QString& identity, const std::string& key);

  int changedCount() const;
  int visibleCount() const;
  void reset(const std::string& key);
  bool focusField(const std::string& key);  // false when there is no such visible field
  FormRow* row(const std::string& key) const;

 Q_SIGNALS:
  void edited(const QString& key, const loom::Json& value);  // null = back to the default (the key goes)
  void changedCountChanged(int count);
  void unreadChanged();
  void hintTriggered(const QString& key);

 private:
  void take(FormRow& row, const Json& value);
  void refresh();
  void refreshProblems();
  void tellUnread();
  Json valueOf(const Field& field) const;
  void keepDrafts();

  FormStyle m_style;
  const Entry* m_entry = nullptr;
  Json m_given;
  QString m_identity;
  QString m_baseFolder;
  Symbols m_symbols;
  std::optional<Json> m_computed;
  Wanted m_wanted;
  bool m_changedOnly = false;
  std::vector<std::string> m_hidden;
  std::set<std::string> m_mixed;
  std::vector<FormRow*> m_rows;
  std::vector<FieldProblem> m_problems;
  std::map<std::string, QString> m_invalid;                     // what stands in a row but is no value
  std::map<std::string, QString> m_told;                        // of them, when unreadChanged() was sent last
  QHash<QString, std::map<std::string, QStringList>> m_drafts;  // by identity
  QHash<QString, std::vector<Unread>> m_left;                   // what is wrong with them
  QVBoxLayout* m_column;
  QWidget* m_headingRow;
  QLabel* m_heading;
  QLabel* m_count;
  int m_changed = -1;
};

}  // namespace loom
