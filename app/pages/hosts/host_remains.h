#pragma once
// What Gradloom left on a host, with its sizes: Tidy up frees what nobody misses, and what a person ticked after saying
// what is lost. Nothing is shown before the host has told it; it is asked while it is connected anyway.
#include <QWidget>

#include "app/page.h"
#include "app/pages/hosts/remain_groups.h"

class QCheckBox;
class QGridLayout;
class QLabel;

namespace loom {

class Button;
class HostLine;

class HostRemains : public QWidget {
  Q_OBJECT

 public:
  explicit HostRemains(AppContext& context, QWidget* parent = nullptr);
  void setHost(const QString& host);  // empty = this machine, on which nothing is left
  // May be shown at all; hidden while its host is edited.
  void setWanted(bool wanted);

 private:
  void look();
  void take(const QVector<HostRemain>& remains, const QString& fault);
  void rebuild();
  void refresh();
  void tidy();
  void remove(const QStringList& paths);
  QVector<RemainGroup> groups() const;
  QStringList chosen(qint64* bytes = nullptr) const;
  HostLine* line() const;

  AppContext& m_context;
  QString m_host;
  QVector<HostRemain> m_remains;
  QVector<RemainGroup> m_groups;
  QList<QCheckBox*> m_boxes;  // of m_groups, null where there is nothing to decide
  bool m_wanted = true, m_told = false, m_asked = false, m_removing = false, m_confirms = false;
  int m_awaited = 0;     // answers of the host that are still to come
  double m_checked = 0;  // when the host was checked last, as of the last look
  qint64 m_before = 0;   // bytes there before the last tidying up
  QLabel *m_total, *m_words, *m_fault;
  QGridLayout* m_rows;
  Button *m_tidy, *m_remove, *m_keep;
};

}  // namespace loom
