#include "app/shell/status_strip.h"

#include <unistd.h>

#include <QFile>
#include <QHBoxLayout>
#include <QPainter>

#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMemoryMs = 2000;

QWidget* between() {
  QFrame* const line = hairline(Qt::Vertical);
  line->setFixedHeight(12);
  return line;
}

Button* part(const QString& text, const QString& name) {
  auto* button = new Button(text, ButtonKind::plain);
  button->setProperty("kind", "plain");
  button->setAccessibleName(name);
  keepHeight(button, 22);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

}  // namespace

StatusStrip::StatusStrip(Workspace&, QWidget* parent) : QFrame(parent) {
  setProperty("kind", "panel");
  keepHeight(this, Size::statusBar);
  m_problems = part(tr("No problems"), tr("Problems"));
  m_problems->setObjectName("status-problems");
  m_jobs = part({}, tr("Running and waiting runs"));
  m_jobs->setObjectName("status-jobs");
  m_host = part(tr("This machine"), tr("Host"));
  m_words = part({}, tr("What the page shows"));
  m_words->setObjectName("status-words");
  m_words->setShrinks(true);
  m_memory = part({}, tr("Memory of this window"));
  m_version = part(tr("Gradloom %1").arg(GRADLOOM_VERSION), tr("Version"));
  m_host->setObjectName("status-host");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 1, 6, 0);
  row->setSpacing(4);
  bool first = true;
  for (Button* each : {m_problems, m_jobs, m_host, m_words}) {
    QWidget* const line = first ? nullptr : between();
    if (line) row->addWidget(line);
    first = false;
    row->addWidget(each);
    if (each == m_words) m_wordsLine = line;
  }
  setPageWords({});
  row->addStretch();
  row->addWidget(m_memory);
  row->addWidget(between());
  row->addWidget(m_version);
  connect(m_problems, &Button::clicked, this, &StatusStrip::problemsWanted);
  connect(m_jobs, &Button::clicked, this, &StatusStrip::jobsWanted);
  connect(m_host, &Button::clicked, this, &StatusStrip::hostWanted);
  connect(&m_timer, &QTimer::timeout, this, &StatusStrip::refreshMemory);
  m_timer.start(kMemoryMs);
  refreshMemory();
  setJobs(0, 0);
}

void StatusStrip::setProblems(int errors, int warnings) {
  QStringList words;
  if (errors) words << counted(errors, tr("errors"));
  if (warnings) words << counted(warnings, tr("warnings"));
  m_problems->setText(' ' + (words.isEmpty() ? tr("No problems") : words.join("  ")));
  m_problems->setIcon(errors     ? icon("status-failed", Colour::error)
                      : warnings ? icon("status-warning", Colour::warning)
                                 : icon("status-ok", Colour::ok));
  m_problems->setIconSize({14, 14});
}

void StatusStrip::setPageWords(const QString& words) {
  m_words->setText(words);
  m_words->setToolTip(words);
  m_words->setVisible(!words.isEmpty());
  m_wordsLine->setVisible(!words.isEmpty());
}

QString StatusStrip::pageWords() const {
  return m_words->text();
}

void StatusStrip::setJobs(int running, int waiting) {
  QString text = running ? tr("%1 running").arg(running) : tr("No run");
  if (waiting) text += tr(", %1 queued").arg(waiting);
  m_jobs->setText(text);
}

void StatusStrip::setHost(const QString& text, const QString& explanation) {
  m_host->setText(text);
  m_host->setToolTip(explanation);
}

void StatusStrip::refreshMemory() {
  QFile file("/proc/self/statm");
  if (!file.open(QIODevice::ReadOnly)) return;
  const qint64 pages = file.readAll().split(' ').value(1).toLongLong();
  m_memory->setText(tr("Memory %1 MB").arg(pages * ::sysconf(_SC_PAGESIZE) / 1000000));
}

}  // namespace loom
