#pragma once
// What lies between the ranks of a host, measured on request: how fast they add up by every way, where the ways cross,
// and delay and bandwidth of the links. What was measured is kept for these machines.
#include <QPointer>
#include <QWidget>

#include "app/measured_sums.h"
#include "app/page.h"

class QLabel;
class QProgressBar;

namespace loom {

class Button;
class HostLine;
class SegmentedControl;
class SumsPlot;

class HostLinks : public QWidget {
  Q_OBJECT

 public:
  explicit HostLinks(AppContext& context, QWidget* parent = nullptr);
  ~HostLinks() override;
  void setHost(const QString& host);  // empty = this machine
  void refresh();                     // its record changed
  const MeasuredSums& sums() const { return m_sums; }
  bool measures() const { return m_line != nullptr; }

 private:
  void startOrStop();
  void stop();
  void take(const QByteArray& line);
  void finish(const QString& fault);
  void show();
  int ranks() const;
  QString words() const;

  AppContext& m_context;
  QString m_host, m_refusal;
  MeasuredSums m_sums, m_coming;
  QPointer<HostLine> m_line;  // that measures now
  QLabel *m_hint, *m_words;
  Button* m_measure;
  QProgressBar* m_progress;
  SegmentedControl* m_what;
  SumsPlot* m_plot;
};

}  // namespace loom
