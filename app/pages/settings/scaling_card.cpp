#include "app/pages/settings/scaling_card.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "app/measured_sums.h"
#include "app/pages/settings/small_plot.h"
#include "app/workspace.h"
#include "launcher/hosts/host_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {

QStringList hostArguments(Workspace& workspace) {
  const Host* host = workspace.hosts().find(workspace.host());
  const int ranks = std::max(1, workspace.mostRanks(workspace.host()));
  int perHost = 0;
  if (host && host->kind == HostKind::slurm)
    perHost = host->slurm.ranksPerNode;
  else if (host && host->places.size() > 1)
    perHost = std::max(1, host->places.front().ranks);
  return QStringList{QStringLiteral("--host"),     host ? host->name : QStringLiteral("local"),
                     QStringLiteral("--ranks"),    QString::number(ranks),
                     QStringLiteral("--per-host"), QString::number(perHost)} +
         linkArguments(workspace.preferences(), workspace.host(), host);
}

ScalingCard::ScalingCard(ProjectDocument& document, Workspace& workspace, QWidget* parent)
    : HeadedCard(tr("Efficiency against ranks"), parent), m_document(document), m_workspace(workspace) {
  m_predict = addButton("scaling-predict", tr("Predict"));
  m_plot = new SmallPlot(tr("Efficiency against ranks"));
  m_plot->setObjectName("scaling-plot");
  m_plot->setWords(tr("Step, run time and efficiency up to 4,096 ranks"));
  m_plot->setHeight(0, 1);
  column().addWidget(m_plot, 1);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("scaling-words");
  column().addWidget(m_words);
  connect(m_plot, &SmallPlot::pointed, this, &ScalingCard::show);
  connect(m_predict, &QPushButton::clicked, this, [this] {
    m_refusal.clear();
    m_host = m_workspace.hostName(m_workspace.host());
    m_measured =
        !linkArguments(m_workspace.preferences(), m_workspace.host(), m_workspace.hosts().find(m_workspace.host()))
             .isEmpty();
    m_asked = m_ranks;
    QStringList arguments = hostArguments(m_workspace);
    arguments << QStringLiteral("--scaling") << QStringLiteral("--now") << QString::number(m_ranks);
    if (m_samples > 0) arguments << QStringLiteral("--samples") << QString::number(m_samples);
    m_call.start(QStringLiteral("advise"), m_document.project(), m_document.folder(), arguments);
    show(-1);
  });
  connect(&m_call, &ProjectCall::answered, this, &ScalingCard::finish);
  connect(&m_call, &ProjectCall::refused, this, [this](const QString& sentence) {
    m_refusal = sentence;
    show(-1);
  });
  show(-1);
}

void ScalingCard::refresh(qint64 ranks) {
  m_ranks = std::max<qint64>(1, ranks);
  show(-1);
}

void ScalingCard::finish(const Json& last) {
  m_points.clear();
  std::vector<QPointF> curve;
  for (const Json& point : last.value("scaling", Json::array())) {
    m_points.push_back(point);
    curve.emplace_back(point.at("ranks").get<double>(), point.at("efficiency").get<double>());
  }
  m_plot->setCurve(std::move(curve));
  show(-1);
}

QString ScalingCard::sentenceOf(const Json& point) const {
  const auto number = [&](const char* key) { return point.value(key, 0.0); };
  QString text = tr("%1, batch %2: step %3, %4, efficiency %5")
                     .arg(counted(point.value("ranks", 1), tr("ranks")), formatCount(number("batch")),
                          formatDuration(number("step")), formatThroughput(number("samples_per_second"), tr("samples")),
                          formatFixed(number("efficiency"), 2));
  if (number("run") > 0) text += tr(", whole run %1").arg(formatDuration(number("run")));
  if (const std::string by = point.value("reduction", std::string()); !by.empty())
    text += tr(", summed by %1").arg(QString::fromStdString(by));
  return text + ".";
}

void ScalingCard::show(int at) {
  m_predict->setEnabled(!m_call.runs());
  m_predict->setText(m_points.empty() ? tr("Predict") : tr("Predict again"));
  setHint(m_host.isEmpty() ? QString()
          : m_measured     ? tr("%1, links as measured there").arg(m_host)
                           : tr("%1, links assumed").arg(m_host));
  if (m_call.runs()) return m_words->setText(tr("Predicting…"));
  if (!m_refusal.isEmpty()) return m_words->setText(m_refusal);
  if (m_points.empty()) return m_words->setText(QString());
  std::size_t shown = 0;
  if (at >= 0 && at < static_cast<int>(m_points.size()))
    shown = static_cast<std::size_t>(at);
  else
    while (shown + 1 < m_points.size() && m_points[shown].value("ranks", 1) < m_ranks) ++shown;
  m_plot->setMarks({{m_points[shown].value("ranks", 1.0), true}});
  m_words->setText(sentenceOf(m_points[shown]));
}

}  // namespace loom
