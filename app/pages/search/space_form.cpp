#include "app/pages/search/space_form.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStringListModel>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/structure_settings.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"

namespace loom {
namespace {

enum Scale { logScale, linearScale, valueList };

QString q(const std::string& text) {
  return QString::fromStdString(text);
}

QString numberText(double value) {
  return QString::number(value, 'g', 6);
}

}  // namespace

// One setting. Its fields hold what was typed, whatever it is worth.
class SpaceForm::Row : public QWidget {
 public:
  explicit Row(SpaceForm& form) : QWidget(&form), m_form(form) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto* first = new QHBoxLayout;
    auto* second = new QHBoxLayout;
    for (QHBoxLayout* each : {first, second}) each->setSpacing(6);
    m_key->setObjectName("search-key");
    m_key->setPlaceholderText(tr("optimizer.learning_rate, batch, conv1.channels"));
    m_key->setAccessibleName(tr("Setting that is searched"));
    auto* completer = new QCompleter(form.m_keys, this);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setFilterMode(Qt::MatchContains);
    m_key->setCompleter(completer);
    Button* const away = iconButton("close", tr("Leave this setting out"));
    away->setObjectName("search-remove");
    first->addWidget(m_key, 1);
    first->addWidget(away);
    m_scale->addItems({tr("Log range"), tr("Range"), tr("Values")});
    m_scale->setObjectName("search-scale");
    m_scale->setAccessibleName(tr("Scale"));
    m_scale->setToolTip(
        tr("Log range: equal factors are as likely, for rates and sizes. Range: equal differences. Values: a list."));
    keepWidth(m_scale, 104);
    m_low->setObjectName("search-low");
    m_high->setObjectName("search-high");
    m_list->setObjectName("search-values");
    m_low->setAccessibleName(tr("From"));
    m_high->setAccessibleName(tr("To"));
    m_list->setAccessibleName(tr("Values, with commas between"));
    m_low->setPlaceholderText(tr("from"));
    m_high->setPlaceholderText(tr("to"));
    m_list->setPlaceholderText(tr("16, 32, 64"));
    second->addWidget(m_scale);
    second->addWidget(m_low, 1);
    m_to = makeLabel("hint", tr("to"));
    second->addWidget(m_to);
    second->addWidget(m_high, 1);
    second->addWidget(m_list, 2);
    second->addSpacing(28 + 6);  // ends where the key does
    m_hint->setObjectName("search-hint");
    m_take->setObjectName("search-take");
    auto* third = new QHBoxLayout;
    third->addWidget(m_hint, 1);
    third->addWidget(m_take);
    column->addLayout(first);
    column->addLayout(second);
    column->addLayout(third);
    connect(away, &Button::clicked, this, [this] {
      const auto at = std::find(m_form.m_rows.begin(), m_form.m_rows.end(), this) - m_form.m_rows.begin();
      const QString words = m_key->text().trimmed().isEmpty() ? QString() : text();
      m_form.remove(this);
      if (!words.isEmpty()) Q_EMIT m_form.removed(words, static_cast<int>(at));
    });
    connect(m_take, &Button::clicked, this, [this] { takeKey(m_take->property("key").toString()); });
    connect(m_key, &QLineEdit::editingFinished, this, [this] { offerRange(); });
    connect(completer, qOverload<const QString&>(&QCompleter::activated), this,
            [this](const QString& key) { takeKey(key); });
    connect(m_scale, &QComboBox::activated, this, [this] { refresh(), Q_EMIT m_form.edited(); });
    for (QLineEdit* each : {m_key, m_low, m_high, m_list})
      connect(each, &QLineEdit::textChanged, this, [this] { refresh(), Q_EMIT m_form.edited(); });
    refresh();
  }

  // A field that loses the keyboard as it goes would still speak.
  ~Row() override {
    for (QLineEdit* each : {m_key, m_low, m_high, m_list}) each->disconnect(this);
  }

  QLineEdit* key() const { return m_key; }

  void setText(const QString& text) {
    try {
      show(parseDimension(text.toStdString()));
    } catch (const Error&) {
      m_key->setText(text.section('=', 0, 0));  // of an earlier version, or half typed
    }
  }

  QString text() const {
    const QString key = m_key->text().trimmed();
    if (m_scale->currentIndex() == valueList) return key + '=' + m_list->text().trimmed();
    return QStringLiteral("%1=%2%3..%4")
        .arg(key, m_scale->currentIndex() == logScale ? "log:" : "", m_low->text().trimmed(), m_high->text().trimmed());
  }

  void refresh() {
    const bool list = m_scale->currentIndex() == valueList;
    for (QWidget* each : {static_cast<QWidget*>(m_low), static_cast<QWidget*>(m_to), static_cast<QWidget*>(m_high)})
      each->setVisible(!list);
    m_list->setVisible(list);
    std::string near;
    const Searchable* const found = find(&near);
    const QString key = m_key->text().trimmed();
    const QString several = found ? QString() : severalWords();
    if (!several.isEmpty()) near.clear();
    m_take->setVisible(!found && !near.empty());
    m_take->setText(q(near));
    m_take->setProperty("key", q(near));
    if (key.isEmpty())
      m_hint->setText(tr("Any setting of the training, any argument of a layer."));
    else if (!several.isEmpty())
      m_hint->setText(several);
    else if (found)
      m_hint->setText(found->value.is_null() ? q(found->label) : tr("%1, now %2").arg(q(found->label), now(*found)));
    else
      m_hint->setText(near.empty() ? tr("The project has no such setting.") : tr("No such setting; did you mean"));
    const char* const kind = !found && several.isEmpty() && !key.isEmpty() ? "warning" : "hint";
    if (m_hint->property("kind").toString() != QLatin1String(kind)) {
      m_hint->setProperty("kind", kind);
      m_hint->style()->unpolish(m_hint);
      m_hint->style()->polish(m_hint);
    }
  }

 private:
  static QString now(const Searchable& found) {
    return found.value.is_string() ? q(found.value.get<std::string>()) : q(found.value.dump());
  }
  const Searchable* find(std::string* near) const {
    try {
      const std::string key = m_key->text().trimmed().toStdString();
      return key.empty() ? nullptr : findSearchable(m_form.m_project, m_form.m_known, key, near);
    } catch (const Error&) {
      return nullptr;  // several drawings have such a node: Start says so
    }
  }
  // Of a key that names several settings, or a chain of layers; empty where one of them is not there.
  QString severalWords() const {
    try {
      const std::string key = m_key->text().trimmed().toStdString();
      const std::vector<std::string> singles = singleKeys(key);
      QStringList words;
      for (const std::string& each : singles) {
        if (const Searchable* const found = findSearchable(m_form.m_project, m_form.m_known, each)) {
          words << tr("%1, now %2").arg(q(found->label), now(*found));
          continue;
        }
        std::string fault;
        if (!each.ends_with(".repeat") || !(fault = faultOfChain(m_form.m_project, each)).empty()) return {};
        words << tr("%1: the chain, so many times over").arg(q(shortKey(each)).chopped(7).replace(",", ", "));
      }
      return singles.size() > 2 ? tr("%1, and %2 alike").arg(words.first()).arg(words.size() - 1)
                                : words.join(QStringLiteral("; "));
    } catch (const Error&) {
      return {};
    }
  }
  void takeKey(const QString& key) {
    m_key->setText(key);
    offerRange();
  }
  // A first range, where nobody typed one.
  void offerRange() {
    const Searchable* const found = find(nullptr);
    if (!found || !m_low->text().isEmpty() || !m_high->text().isEmpty() || !m_list->text().isEmpty()) return;
    Dimension range = usualRange(*found);
    range.key = m_key->text().trimmed().toStdString();
    show(range);
  }
  void show(const Dimension& dimension) {
    m_key->setText(q(dimension.key));
    m_scale->setCurrentIndex(!dimension.choices.empty() ? valueList : dimension.log ? logScale : linearScale);
    if (dimension.choices.empty()) {
      m_low->setText(numberText(dimension.low));
      m_high->setText(numberText(dimension.high));
    } else {
      m_list->setText(q(toText(dimension)).section('=', 1).replace(",", ", "));
    }
    refresh();
  }

  SpaceForm& m_form;
  QLineEdit *m_key = new QLineEdit, *m_low = new QLineEdit, *m_high = new QLineEdit, *m_list = new QLineEdit;
  ChoiceField* m_scale = new ChoiceField;
  QLabel *m_hint = makeLabel("hint", {}, nullptr, Wrap::yes), *m_to = nullptr;
  Button* m_take = new Button({}, ButtonKind::link);
};

SpaceForm::SpaceForm(QWidget* parent)
    : QWidget(parent), m_keys(new QStringListModel(this)), m_column(new QVBoxLayout(this)) {
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(12);
}

SpaceForm::~SpaceForm() {
  qDeleteAll(m_rows);
}

void SpaceForm::setProject(const Json& project) {
  m_project = project;
  try {
    m_known = searchableOf(project);
  } catch (const Error&) {
    m_known.clear();  // a project with faults: they stand in the list of problems
  }
  QStringList keys;
  for (const Searchable& each : m_known) keys << q(each.shorter);
  m_keys->setStringList(keys);
  for (Row* row : m_rows) row->refresh();
}

void SpaceForm::setSpace(const QStringList& texts) {
  while (!m_rows.empty()) remove(m_rows.back());
  for (const QString& each : texts) addRow(each);
}

QStringList SpaceForm::texts() const {
  QStringList all;
  for (const Row* row : m_rows) all << row->text();
  return all;
}

Space SpaceForm::space() const {
  Space space;
  for (const QString& each : texts()) {
    if (each.startsWith('='))
      throwError(ErrorCode::badArgument, "A row has no setting: name one, or leave the row out.");
    space.push_back(parseDimension(each.toStdString()));
  }
  return space;
}

void SpaceForm::addRow(const QString& text, int place) {
  auto* row = new Row(*this);
  place = place < 0 ? rows() : std::min(place, rows());
  m_rows.insert(m_rows.begin() + place, row);
  m_column->insertWidget(place, row);
  if (!text.isEmpty())
    row->setText(text);
  else
    row->key()->setFocus(Qt::OtherFocusReason);
  Q_EMIT edited();
}

void SpaceForm::remove(Row* row) {
  m_rows.erase(std::find(m_rows.begin(), m_rows.end(), row));
  row->hide();
  row->deleteLater();
  Q_EMIT edited();
}

}  // namespace loom
