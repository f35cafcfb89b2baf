#pragma once
// Shares of a whole as bars under each other: what of each setting moves the result. A click on one chooses it.
#include <QWidget>
#include <vector>

namespace loom {

class WeightBars : public QWidget {
  Q_OBJECT

 public:
  struct Bar {
    QString key, title;
    double share = 0;  // 0 to 1
  };
  explicit WeightBars(QWidget* parent = nullptr);
  void setTitle(const QString& title, const QString& subtitle);
  void setBars(std::vector<Bar> bars);      // in their order
  void setMessage(const QString& message);  // in the place of bars
  const std::vector<Bar>& bars() const { return m_bars; }
  QString subtitle() const { return m_subtitle; }
  QString message() const { return m_message; }
  QRectF row(std::size_t bar) const;

  QSize sizeHint() const override { return {340, 220}; }
  QSize minimumSizeHint() const override { return {220, 90}; }

 Q_SIGNALS:
  void chosen(const QString& key);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  int barAt(const QPointF& at) const;
  QString m_title, m_subtitle, m_message;
  std::vector<Bar> m_bars;
  int m_hovered = -1;
};

}  // namespace loom
