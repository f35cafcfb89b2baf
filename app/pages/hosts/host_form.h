#pragma once
// What a person may change of a host. What is typed holds at once, as soon as nothing stands in its way; until then the
// last good values hold and the fault stands under its field.
#include <QWidget>
#include <functional>
#include <vector>

#include "app/page.h"
#include "launcher/hosts/host.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QVBoxLayout;

namespace loom {

class NumberField;
class SegmentedControl;

class HostForm : public QWidget {
  Q_OBJECT

 public:
  explicit HostForm(AppContext& context, QWidget* parent = nullptr);
  void setHost(const QString& id);
  void focusFirst();
  // As it stands in the fields, good or not.
  const Host& draft() const { return m_draft; }

 Q_SIGNALS:
  void removeWanted();
  void doneWanted();

 private:
  using Copy = std::function<void(Host& to, const Host& from)>;
  struct Field {
    QWidget* row = nullptr;
    QLabel* fault = nullptr;
    std::function<void(const Host&)> show;  // host -> editor
    std::function<QString(Host&)> read;     // editor -> host; what is no value at all
    Copy copy;                              // so that a fault is found to be this field's
    enum class For { both, mpirun, slurm } kind = For::both;
  };
  void section(const QString& title, Field::For kind);
  Field& add(const QString& label, const QString& hint, QWidget* editor, Field::For kind);
  void addText(const char* name, const QString& label, const QString& hint, Field::For kind, QString& (*of)(Host&));
  void addNumber(const char* name, const QString& label, const QString& hint, Field::For kind, int& (*of)(Host&),
                 bool emptyIsZero = false);
  void addSwitch(const char* name, const QString& label, const QString& text, Field::For kind, bool& (*of)(Host&));
  // One value a line, or words in a line.
  void addLines(const char* name, const QString& label, const QString& hint, Field::For kind,
                const std::function<QString(const Host&)>& show, const std::function<void(Host&, const QString&)>& read,
                Copy copy);
  void addWords(const char* name, const QString& label, const QString& hint, Field::For kind,
                QStringList& (*of)(Host&));
  void buildFields();
  void edited();
  QStringList nameFaults() const;
  void showKind();

  AppContext& m_context;
  QVBoxLayout* m_rows;
  SegmentedControl* m_kind;
  QLabel* m_rest;
  QString m_id;
  Host m_draft;
  std::vector<Field> m_fields;
  QLineEdit* m_first = nullptr;
  bool m_showing = false;
};

}  // namespace loom
