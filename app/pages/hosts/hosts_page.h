#pragma once
// Can it run there, what is in the way? The hosts at the left, one of them with its check, the queue at the right.
#include "app/page.h"

class QStackedWidget;
class QTabBar;

namespace loom {

class EmptyState;
class HostList;
class HostView;
class QueuePanel;

class HostsPage : public Page {
  Q_OBJECT

 public:
  explicit HostsPage(AppContext& context, QWidget* parent = nullptr);

  void activated() override;
  bool show(const Place& place) override;
  QList<QWidget*> areas() const override;
  void toggleLeftPanel() override;
  void toggleInspector() override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;
  bool settled() const override;

  HostList& list() const { return *m_list; }
  HostView& view() const { return *m_view; }
  QueuePanel& queue() const { return *m_queue; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeActions();
  void choose(const QString& host);
  void add(const QString& text);
  void remove(const QString& host);
  void refreshEmpty();
  void refreshTabs();

  HostList* m_list;
  HostView* m_view;
  QWidget *m_empty, *m_right;
  QTabBar* m_tabs;
  QStackedWidget* m_centre;
  QueuePanel* m_queue;
  bool m_narrow = false;
};

}  // namespace loom
