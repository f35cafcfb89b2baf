#include "app/shell/train_card.h"

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "widgets/controls/button.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kCardWidth = 340;

}  // namespace

TrainCard::TrainCard(Check check, QWidget* window) : Popover(window), m_check(std::move(check)), m_name(new QLineEdit), m_changes(new QPlainTextEdit), m_fault(new QLabel) {
  setObjectName("train-card");
  auto* title = new QLabel(tr("Train with changes"));
  title->setProperty("kind", "heading");
  m_name->setPlaceholderText(tr("Name of the run"));
  m_name->setAccessibleName(tr("Name of the run"));
  m_changes->setPlaceholderText("training.optimizer.learning_rate=0.05\ntraining.epochs=20");
  m_changes->setAccessibleName(tr("Settings of this run, one a line"));
  m_changes->setFont(Theme::of(this).numberFont());
  m_changes->setObjectName("train-changes");
  m_changes->setFixedSize(kCardWidth, 92);
  m_changes->setProperty("kind", "framed");  // a scroll area has no frame of its own
  m_changes->setTabChangesFocus(true);
  auto* hint = new QLabel(tr("One setting a line. The project stays as it is."));
  hint->setProperty("kind", "hint");
  m_fault->setProperty("kind", "error");
  m_fault->setObjectName("train-fault");
  m_fault->setTextFormat(Qt::PlainText);
  m_fault->setWordWrap(true);
  m_fault->setFixedWidth(kCardWidth);
  m_fault->hide();
  auto* start = new Button("play", tr("Train"), ButtonKind::tinted);
  connect(start, &Button::clicked, this, &TrainCard::start);
  connect(m_name, &QLineEdit::returnPressed, this, &TrainCard::start);
  for (QWidget* each : std::initializer_list<QWidget*>{title, m_name, m_changes, hint, m_fault}) contentLayout()->addWidget(each);
  contentLayout()->addWidget(start, 0, Qt::AlignRight);
}

void TrainCard::tell(const QString& fault) {
  m_fault->setText(fault);
  m_fault->show();
  adjustSize();
}

void TrainCard::start() {
  static const QRegularExpression kChange("^[A-Za-z_][\\w.]*\\s*=\\s*\\S.*$");
  QStringList overrides;
  for (const QString& line : m_changes->toPlainText().split('\n')) {
    const QString change = line.trimmed();
    if (change.isEmpty()) continue;
    if (!kChange.match(change).hasMatch()) return tell(tr("\"%1\" is no change: write key=value").arg(change));
    overrides << change.section('=', 0, 0).trimmed() + '=' + change.section('=', 1).trimmed();
  }
  if (const QString fault = m_check(overrides); !fault.isEmpty()) return tell(fault);
  close();
  Q_EMIT wanted(m_name->text().trimmed(), overrides);
}

}  // namespace loom
