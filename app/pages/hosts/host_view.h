#pragma once
// One host: facts in two lines, its check line by line, what a person may do about it, the job script of a Slurm host.
#include <QFrame>
#include <QHash>

#include "app/page.h"
#include "launcher/hosts/host.h"

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace loom {

class Button;
class CheckRow;
class HostForm;
class HostLinks;
class HostRemains;
class StatusLabel;

class HostView : public QWidget {
  Q_OBJECT

 public:
  explicit HostView(AppContext& context, QWidget* parent = nullptr);
  void setHost(const QString& host);  // empty = this machine
  QString host() const { return m_host; }
  void refresh();  // its check or its line changed
  void check();
  void edit(bool editing);
  bool isEditing() const { return m_editing; }

 Q_SIGNALS:
  void removeWanted(const QString& host);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void makeHeader(QVBoxLayout* column);
  void refreshHeader();
  void refreshFault();
  void refreshChecks();
  void refreshScript();
  // Cards by their titles, in order; rows are kept where they are, so that a button under the pointer stays.
  struct Card {
    QLabel* title = nullptr;
    QFrame* frame = nullptr;
    QHash<QString, CheckRow*> rows;
    QStringList order;
  };
  Card& card(const QString& title);

  AppContext& m_context;
  QString m_host;
  bool m_editing = false;
  QLabel *m_name, *m_place, *m_checked, *m_faultText;
  StatusLabel* m_counts;
  Button *m_edit, *m_check, *m_connect;
  QFrame* m_fault;
  QScrollArea* m_scroll;
  QWidget* m_checks;
  QVBoxLayout* m_cards;
  QHash<QString, Card> m_byTitle;
  HostForm* m_form = nullptr;
  HostLinks* m_links = nullptr;
  HostRemains* m_remains = nullptr;
  QWidget* m_script;
  QLabel* m_scriptText;
};

}  // namespace loom
