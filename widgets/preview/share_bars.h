#pragma once
// Shares of a whole as bars, the largest first: name, bar, percent. The first one stands out.
#include <QList>
#include <QString>
#include <QWidget>

namespace loom {

class ShareBars : public QWidget {
  Q_OBJECT

 public:
  struct Share {
    QString name;
    double share = 0;     // 0 ... 1
    bool marked = false;  // with a word behind its name: what is right
  };
  explicit ShareBars(QWidget* parent = nullptr);
  // In the order that is drawn; `mark`: the word of marked ones ("true").
  void setShares(const QList<Share>& shares, const QString& mark = {});
  const QList<Share>& shares() const { return m_shares; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QList<Share> m_shares;
  QString m_mark;
};

}  // namespace loom
