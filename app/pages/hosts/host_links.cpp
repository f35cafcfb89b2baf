#include "app/pages/hosts/host_links.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QThread>
#include <QVBoxLayout>
#include <algorithm>

#include "app/host_checks.h"
#include "app/pages/hosts/sums_plot.h"
#include "app/preferences.h"
#include "app/run_display.h"
#include "engine/base/json.h"
#include "launcher/hosts/host_store.h"
#include "launcher/remote/host_lines.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

constexpr double kSecondsASize = 1;  // over all ways: a dozen sizes and ways take a quarter of a minute
constexpr int kMostHere = 4;         // ranks on this machine, where nobody said how many

QString linkText(const QString& name, const MeasuredLink& link) {
  return QObject::tr("%1: %2\u202Fµs, %3\u202FGB/s")
      .arg(name, formatSignificant(link.delay * 1e6, 2), formatSignificant(link.bandwidth * 1e-9, 3));
}

}  // namespace

HostLinks::HostLinks(AppContext& context, QWidget* parent) : QWidget(parent), m_context(context) {
  setObjectName("host-links");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 14, 0, 0);
  column->setSpacing(6);
  auto* head = new QHBoxLayout;
  head->setSpacing(8);
  head->addWidget(makeLabel("label", tr("Adding up between ranks")));
  m_hint = makeLabel("hint");
  m_hint->setObjectName("links-hint");
  head->addWidget(m_hint, 1);
  m_what = new SegmentedControl({tr("Time"), tr("Bandwidth")});
  m_what->setObjectName("links-what");
  m_what->setAccessibleName(tr("What is drawn against the size"));
  m_measure = new Button(tr("Measure links"), ButtonKind::outlined);
  m_measure->setObjectName("measure-links");
  head->addWidget(m_what);
  head->addWidget(m_measure);
  column->addLayout(head);
  auto* frame = new QFrame;
  frame->setProperty("kind", "card");
  auto* inside = new QVBoxLayout(frame);
  inside->setContentsMargins(8, 10, 12, 12);
  inside->setSpacing(6);
  m_progress = new QProgressBar;
  m_progress->setObjectName("links-progress");
  m_progress->setTextVisible(false);
  m_progress->setAccessibleName(tr("Progress of the measurement"));
  inside->addWidget(m_progress);
  m_plot = new SumsPlot;
  m_plot->setObjectName("links-plot");
  m_plot->setMinimumHeight(300);  // ten values and their heading stand in it
  inside->addWidget(m_plot);
  m_words = makeLabel("field", {}, nullptr, Wrap::yes);
  m_words->setObjectName("links-words");
  m_words->setContentsMargins(8, 0, 0, 0);
  inside->addWidget(m_words);
  column->addWidget(frame);
  connect(m_measure, &Button::clicked, this, &HostLinks::startOrStop);
  connect(m_what, &SegmentedControl::currentChanged, this,
          [this](int at) { m_plot->setShown(at == 0 ? SumsPlot::Shown::time : SumsPlot::Shown::bandwidth); });
  show();
}

HostLinks::~HostLinks() {
  stop();
}

int HostLinks::ranks() const {
  if (const Host* const host = m_context.hosts->store().find(m_host)) return host->totalRanks();
  return std::clamp(QThread::idealThreadCount(), 2, kMostHere);
}

void HostLinks::setHost(const QString& host) {
  if (host == m_host && m_sums.at > 0) return refresh();
  stop();
  m_host = host;
  m_refusal.clear();
  m_sums = keptSums(*m_context.preferences, m_host);
  show();
}

void HostLinks::refresh() {
  show();
}

void HostLinks::startOrStop() {
  m_refusal.clear();
  if (m_line) {
    stop();
    return show();
  }
  HostLine* const line = m_context.checks->lineOf(m_host);
  if (!line) return;
  m_coming = {};
  m_coming.machines = machinesOf(m_context.hosts->store().find(m_host));
  m_line = line;
  connect(line, &HostLine::linkLine, this, &HostLinks::take);
  connect(line, &HostLine::linksDone, this, &HostLinks::finish);
  line->measureLinks(ranks(), kSecondsASize);
  show();
}

// What was kept before stands again.
void HostLinks::stop() {
  if (!m_line) return;
  m_line->disconnect(this);
  m_line->stopMeasuring();
  m_line = nullptr;
}

void HostLinks::take(const QByteArray& line) {
  m_coming.take(Json::parse(line.toStdString(), nullptr, false));
  show();
}

void HostLinks::finish(const QString& fault) {
  m_line->disconnect(this);
  m_line = nullptr;
  m_refusal = fault;
  if (fault.isEmpty() && m_coming.taken() > 0) {
    m_sums = std::move(m_coming);
    m_sums.at = static_cast<double>(QDateTime::currentSecsSinceEpoch());
    keepSums(*m_context.preferences, m_host, m_sums);
  }
  show();
}

QString HostLinks::words() const {
  if (!m_refusal.isEmpty()) return tr("Not measured: %1").arg(m_refusal);
  const MeasuredSums& shown = m_line ? m_coming : m_sums;
  QStringList parts;
  if (shown.within) parts << linkText(tr("Within a host"), *shown.within);
  if (shown.between) parts << linkText(tr("Between hosts"), *shown.between);
  const std::vector<SumCrossing> crossings = shown.crossings();
  for (const SumCrossing& each : crossings)
    parts << tr("From %1 on %2 is the fastest, before it %3").arg(formatBytes(each.bytes), each.to, each.from);
  if (!m_line && shown.taken() > 0) {
    if (crossings.empty()) parts << tr("One way is the fastest throughout");
    parts << tr("Predictions for this host use these links");
  }
  return parts.isEmpty() ? QString() : parts.join(QStringLiteral(". ")) + '.';
}

void HostLinks::show() {
  const bool measures = m_line != nullptr;
  const MeasuredSums& shown = measures ? m_coming : m_sums;
  m_measure->setText(measures ? tr("Stop") : m_sums.taken() > 0 ? tr("Measure again") : tr("Measure links"));
  // One rank has nobody to talk to.
  m_measure->setEnabled(measures || ranks() > 1);
  m_what->setVisible(shown.taken() > 0);
  m_progress->setVisible(measures);
  m_progress->setRange(0, shown.expected());  // nothing known yet: it goes to and fro
  m_progress->setValue(shown.taken());
  const bool other =
      shown.taken() > 0 && !measures && shown.machines != machinesOf(m_context.hosts->store().find(m_host));
  m_hint->setText(measures && shown.expected() > 0 ? tr("%1 of %2").arg(shown.taken()).arg(shown.expected())
                  : measures                       ? tr("%1 start").arg(counted(ranks(), tr("ranks")))
                  : shown.taken() > 0              ? tr("%1, measured %2%3")
                                            .arg(counted(shown.ranks, tr("ranks")), formatMoment(shown.at),
                                                 other ? tr(", on other machines than now") : QString())
                                      : QString());
  m_plot->setSums(shown);
  m_plot->setWords(measures      ? tr("The ranks start, and measure delay and bandwidth first")
                   : ranks() > 1 ? tr("Which way of adding up is the fastest here, by size, and where the ways cross: "
                                      "%1 measure it in about half a minute")
                                       .arg(counted(ranks(), tr("ranks")))
                                 : tr("One rank adds nothing up. Give this host several ranks under Edit"));
  m_words->setText(words());
  m_words->setVisible(!m_words->text().isEmpty());
}

}  // namespace loom
