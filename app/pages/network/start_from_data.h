#pragma once
// "Start from data": looks at the dataset that training uses, asks what shall be predicted, and makes steps, a split, a
// network and settings of the answer, as one step that Undo takes back. Files are read beside the window's thread.
#include <QObject>
#include <QPointer>

#include "engine/network/start_from_data.h"
#include "widgets/document/newest_task.h"

namespace loom {

struct AppContext;
class ProjectDocument;
class TargetCard;

class DataStart : public QObject {
  Q_OBJECT

 public:
  DataStart(AppContext& context, QWidget& page);
  ~DataStart() override;

  // For `network` of the open project, which has a dataset.
  void ask(const std::string& network);

 Q_SIGNALS:
  void made();

 private:
  void make(const StartChoice& choice);
  void take(Project project, const QString& column);

  AppContext& m_context;
  ProjectDocument& m_document;
  QWidget& m_page;
  QPointer<TargetCard> m_card;
  std::string m_network, m_dataset;
  std::shared_ptr<const StartFacts> m_facts;
  NewestTask m_task;
};

}  // namespace loom
