#pragma once
// What runs, what waits, what is done today: on all hosts, or on the one that is shown. It follows the store of runs.
#include <QFrame>
#include <QHash>
#include <QTimer>

#include "app/page.h"
#include "launcher/store/run_record.h"

class QLabel;
class QVBoxLayout;

namespace loom {

class Button;
class RunCard;
class SegmentedControl;

class QueuePanel : public QFrame {
  Q_OBJECT

 public:
  explicit QueuePanel(AppContext& context, QWidget* parent = nullptr);
  void setHost(const QString& host);
  int length() const { return m_length; }  // runs that go or wait
  bool settled() const { return !m_soon.isActive(); }
  SegmentedControl* scope() const { return m_scope; }

 Q_SIGNALS:
  void lengthChanged();

 private:
  void refresh();
  void rebuild();
  QList<RunRecord> shown() const;

  AppContext& m_context;
  QString m_host, m_built;  // what the cards were made for
  QLabel* m_count;
  SegmentedControl* m_scope;
  QWidget* m_content;
  QVBoxLayout* m_rows;
  QHash<QString, RunCard*> m_cards;
  QTimer m_soon;
  int m_length = 0;
};

}  // namespace loom
