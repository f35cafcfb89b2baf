#include "app/pages/network/start_from_data.h"

#include <QFileInfo>

#include "app/page.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/network/target_card.h"
#include "engine/base/error.h"
#include "engine/network/dataset_rows.h"
#include "widgets/controls/text.h"
#include "widgets/document/arrange.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"

namespace loom {

DataStart::DataStart(AppContext& context, QWidget& page)
    : QObject(&page), m_context(context), m_document(*context.document), m_page(page) {
  connect(&m_document, &ProjectDocument::opened, this, [this] {
    m_task.forget();
    delete m_card;
  });
}

DataStart::~DataStart() {
  delete m_card;
}

void DataStart::ask(const std::string& network) {
  const Project& project = m_document.project();
  if (project.datasets.empty()) return;
  const std::string wanted =
      project.training.updates.empty() ? UpdateSpec().dataset : project.training.updates.front().dataset;
  const DatasetSpec* found = project.dataset(wanted);
  const DatasetSpec spec = found ? *found : project.datasets.front();
  m_network = network;
  m_dataset = spec.name;
  m_facts.reset();
  const QString csv = datasetPath(m_document, spec);
  delete m_card;
  m_card = new TargetCard(QFileInfo(csv).fileName(), m_page.window());
  connect(m_card, &Popover::closed, m_card, &QObject::deleteLater);
  connect(m_card, &QObject::destroyed, &m_task, &NewestTask::forget);
  connect(m_card, &TargetCard::wanted, this, &DataStart::make);
  m_card->openOver(m_page.window());
  m_task.ask([this, spec, path = toPath(csv)](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    try {
      auto facts = std::make_shared<StartFacts>(factsToStart(spec, path, [&] { return outdated.load(); }));
      return [this, facts] {
        m_facts = facts;
        if (m_card) m_card->showFacts(*facts);
      };
    } catch (const Error& error) {
      return [this, reason = q(error.what())] {
        if (m_card) m_card->showFault(reason);
      };
    }
  });
}

void DataStart::make(const StartChoice& choice) {
  if (!m_facts || !m_card) return;
  m_card->setBusy(true);
  const int before = m_document.undoStack().index();
  m_task.ask([this, before, choice, facts = m_facts, project = m_document.project(), network = m_network,
              dataset = m_dataset](const std::atomic<bool>&) -> NewestTask::Answer {
    try {
      auto made = std::make_shared<Project>(startFromData(project, network, dataset, *facts, choice));
      return [this, before, made, choice] {
        // Of a project that was changed meanwhile it is made anew.
        if (m_document.undoStack().index() != before) return make(choice);
        take(std::move(*made), q(choice.target));
      };
    } catch (const Error& error) {
      return [this, reason = q(error.what())] {
        if (m_card) m_card->showFault(reason);
      };
    }
  });
}

void DataStart::take(Project project, const QString& column) {
  if (m_card) m_card->close();
  Network& drawn = *project.network(m_network);
  const bool fresh = std::none_of(drawn.nodes.begin(), drawn.nodes.end(), [](const Node& node) { return node.placed; });
  placeUnplaced(project);
  // Beside the nodes that stood there already; alone it is arranged as a whole.
  if (fresh)
    for (Node& node : drawn.nodes) node.placed = true;
  m_document.edit(ProjectDocument::tr("Start from data"), [&](Project& before) { before = std::move(project); });
  Q_EMIT made();
  if (!m_context.notify) return;
  m_context.notify({tr("A network that predicts %1, its preparation and its validation set").arg(column), tr("Undo"),
                    [document = QPointer<ProjectDocument>(&m_document)] {
                      if (document) document->undoStack().undo();
                    }});
}

}  // namespace loom
