#include "app/pages/settings/recipe_desk.h"

#include <algorithm>

#include "app/pages/settings/changes_card.h"
#include "app/pages/settings/run_forecast.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {

RecipeDesk::RecipeDesk(ProjectDocument& document, Workspace& workspace, std::function<Facts()> facts, QObject* parent)
    : QObject(parent), m_document(document), m_workspace(workspace), m_facts(std::move(facts)) {
  m_preset = new ChoiceField;
  m_preset->setObjectName("preset");
  m_preset->setPrefix(tr("Preset"));
  m_preset->setAccessibleName(tr("Preset"));
  m_preset->addItem(tr("choose…"), QString());
  for (const Preset& preset : presetTable())
    m_preset->addItem(QString::fromStdString(preset.label), QString::fromStdString(preset.id));
  m_choose = new Button(tr("Choose for me"), ButtonKind::outlined);
  m_choose->setObjectName("choose-for-me");
  m_card = new ChangesCard;
  connect(m_preset, &QComboBox::activated, this, &RecipeDesk::openPreset);
  connect(m_choose, &QPushButton::clicked, this, &RecipeDesk::chooseForMe);
  connect(m_card, &ChangesCard::taken, this, &RecipeDesk::take);
  connect(m_card, &ChangesCard::closed, this, &RecipeDesk::close);
  connect(m_card, &ChangesCard::choiceChanged, this, [this](int choice) {
    m_batch = choice;
    propose();
  });
  connect(&m_call, &ProjectCall::answered, this, &RecipeDesk::takeAdvice);
  connect(&m_call, &ProjectCall::refused, this,
          [this](const QString& sentence) { m_card->setWaiting(tr("Choose for me"), sentence); });
}

void RecipeDesk::openPreset(int row) {
  m_call.cancel();
  m_open = findPreset(m_preset->itemData(row).toString().toStdString());
  m_batch = 0;
  if (!m_open) return close();
  propose();
  Q_EMIT opened();
}

void RecipeDesk::propose() {
  if (!m_open) return;
  m_proposed.reset();
  m_ranks = 0;
  m_name = QString::fromStdString(m_open->label);
  const Facts facts = m_facts();
  try {
    const qint64 own = fieldAt(m_document.project(), facts.update, "batch").get<qint64>(),
                 perRank = std::max<std::int64_t>(1, m_open->batch / m_open->ranks);
    const qint64 batches[] = {0, perRank * facts.ranks, m_open->batch};
    m_card->setChoices({tr("This batch, %1").arg(formatCount(static_cast<double>(own))),
                        tr("%1 a rank, %2").arg(perRank).arg(formatCount(static_cast<double>(perRank * facts.ranks))),
                        tr("As published, %1").arg(formatCount(static_cast<double>(m_open->batch)))},
                       m_batch);
    Proposal proposal = withPreset(m_document.project(), facts.update, *m_open,
                                   {.batch = batches[std::clamp(m_batch, 0, 2)], .ranks = facts.ranks});
    QStringList notes;
    for (const std::string& missing : m_open->missing) notes << tr("Not set: %1.").arg(QString::fromStdString(missing));
    m_card->setProposal(
        QString::fromStdString(m_open->label) + QStringLiteral(": ") + QString::fromStdString(m_open->result),
        QString::fromStdString(m_open->source), proposal.changes, notes);
    m_proposed = std::move(proposal.project);
  } catch (const std::exception& error) {
    m_card->setWaiting(m_name, QString::fromUtf8(error.what()));
  }
}

void RecipeDesk::chooseForMe() {
  m_open = nullptr;
  m_proposed.reset();
  m_preset->setCurrentIndex(0);
  const Facts facts = m_facts();
  QStringList arguments = hostArguments(m_workspace);
  arguments << QStringLiteral("--now") << QString::number(facts.ranks);
  if (facts.samples > 0) arguments << QStringLiteral("--samples") << QString::number(facts.samples);
  if (facts.noise) arguments << QStringLiteral("--noise-scale") << QString::number(*facts.noise, 'g', 10);
  m_name = tr("Choose for me");
  m_card->setWaiting(m_name, tr("Predicting steps and exchanges on %1…").arg(m_workspace.hostName(m_workspace.host())));
  m_call.start(QStringLiteral("advise"), m_document.project(), m_document.folder(), arguments);
  Q_EMIT opened();
}

void RecipeDesk::takeAdvice(const Json& answer) {
  std::vector<FieldChange> changes;
  for (const Json& each : answer.value("changes", Json::array()))
    changes.push_back({each.at("path").get<std::string>(), each.at("before"), each.at("after"),
                       each.at("reason").get<std::string>()});
  const Json predicted = answer.value("predicted", Json::object());
  QString source = tr("A step of %1, %2, efficiency %3; links assumed unless measured.")
                       .arg(formatDuration(predicted.value("step", 0.0)),
                            formatThroughput(predicted.value("samples_per_second", 0.0), tr("samples")),
                            formatFixed(predicted.value("efficiency", 1.0), 2));
  if (const double run = predicted.value("run", 0.0); run > 0)
    source = tr("Whole run %1. ").arg(formatDuration(run)) + source;
  m_ranks = answer.value("ranks", 0);
  ReadProject read = readProject(answer.value("project", std::string()), "the advice");
  if (!read.readable) return m_card->setWaiting(m_name, tr("The advice cannot be read."));
  m_proposed = std::move(read.project);
  m_card->setChoices({}, 0);
  m_card->setProposal(tr("Chosen for %1").arg(m_workspace.hostName(m_workspace.host())), source, changes, {});
}

// Fields of the training and of losses alone: where things stand on the canvas is the document's.
void RecipeDesk::take() {
  if (!m_proposed) return;
  Project next = m_document.project();
  next.training = m_proposed->training;
  for (Network& network : next.networks)
    if (const Network* proposed = m_proposed->network(network.name))
      for (Node& node : network.nodes)
        if (const Node* other = proposed->find(node.id)) node.values = other->values;
  ProjectDocument::Beside beside;
  const QString host = m_workspace.host();
  if (m_ranks > 0 && m_ranks <= m_workspace.mostRanks(host)) {
    const auto choose = [workspace = &m_workspace, host](int count) {
      return [workspace, host, count] {
        if (workspace->host() == host) workspace->chooseHost(host, count);
      };
    };
    beside = {choose(m_ranks), choose(m_workspace.ranks())};
  }
  m_document.replace(tr("Take %1").arg(m_name), std::move(next), {}, beside);
  close();
}

void RecipeDesk::close() {
  m_call.cancel();
  m_proposed.reset();
  m_open = nullptr;
  m_preset->setCurrentIndex(0);
  Q_EMIT closed();
}

}  // namespace loom
