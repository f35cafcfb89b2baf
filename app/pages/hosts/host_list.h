#pragma once
// The hosts, this machine first, each with its kind, what it offers and how it stands; a row to add one; below, those
// that the SSH configuration names.
#include <QFrame>
#include <QTimer>

#include "app/page.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QVBoxLayout;

namespace loom {

class Button;

class HostList : public QFrame {
  Q_OBJECT

 public:
  // `names`: of the SSH configuration, in order, each with where it leads.
  HostList(AppContext& context, QString sshConfig, QWidget* parent = nullptr);
  QString current() const;  // empty = this machine
  void setCurrent(const QString& host);
  void startAdding();
  QListWidget& list() const { return *m_list; }
  QLineEdit& field() const { return *m_field; }

 Q_SIGNALS:
  void chosen(const QString& host);
  void addWanted(const QString& text);
  void removeWanted(const QString& host);

 public Q_SLOTS:
  void showFault(const QString& sentence);  // of what stands in the field
  void endAdding();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill();
  void keepListHeight();
  void refreshRow(const QString& host);
  void fillFound();
  AppContext& m_context;
  QString m_sshConfig;
  QWidget* m_adding;
  QLineEdit* m_field;
  QLabel* m_fault;
  QListWidget* m_list;
  QWidget* m_found;
  QVBoxLayout* m_foundRows;
  QTimer m_soon;
  bool m_filling = false;
};

}  // namespace loom
