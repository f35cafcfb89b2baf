#pragma once
// Results against what they cost: a dot a trial, a line along those that no other beats in both. Under the pointer a
// trial says its values, a click asks for its run; with the keyboard Left and Right go along the front, Enter asks.
#include <QWidget>
#include <vector>

#include "app/pages/search/trial_model.h"
#include "widgets/chart/ticks.h"

namespace loom {

class FrontPicture : public QWidget {
  Q_OBJECT

 public:
  explicit FrontPicture(QWidget* parent = nullptr);

  void setContent(const ShownSearch& search, const TrialCostKind& kind);
  int trialsShown() const { return static_cast<int>(m_dots.size()); }
  std::vector<int> front() const;             // numbers of trials, by rising cost
  QPointF place(int number) const;            // of its dot in the widget; null where it has none
  QStringList words() const;                  // what the card beside the chosen dot says
  QString title() const { return m_xTitle; }  // of the axis of costs

  QSize sizeHint() const override { return {480, 260}; }
  QSize minimumSizeHint() const override { return {240, 150}; }

 Q_SIGNALS:
  void trialHovered(int number);  // 0: none
  void trialClicked(int number);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Dot {
    int number = 0;
    double cost = 0, value = 0;
    bool isOnFront = false, isDone = false;
    QStringList words;
  };
  QRectF plot() const;
  double shareOf(double cost) const;  // from left to right
  QPointF placeOf(const Dot& dot) const;
  const Dot* chosen() const;
  void choose(int number);
  int dotAt(const QPointF& at) const;
  void paintAxes(QPainter& painter) const;
  void paintFront(QPainter& painter) const;
  void paintDots(QPainter& painter) const;
  void paintCard(QPainter& painter) const;

  std::vector<Dot> m_dots;  // those of the front last, by rising cost
  std::size_t m_firstOfFront = 0;
  const TrialCostKind* m_kind = nullptr;
  SearchPlan m_plan;
  QString m_xTitle, m_yTitle, m_empty;
  bool m_log = false;
  Interval m_x, m_y;
  int m_chosen = 0;
};

}  // namespace loom
