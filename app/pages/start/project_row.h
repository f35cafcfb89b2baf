#pragma once
// A line of the Start page that can be pressed: a small drawing, a name, words below it, words at its right.
#include <QAbstractButton>
#include <QPixmap>
#include <optional>

#include "widgets/theme/status.h"

namespace loom {

class ProjectRow : public QAbstractButton {
  Q_OBJECT

 public:
  struct Content {
    QString title, detail, value, moment;
    std::optional<Status> status;
    QString thumbnailOf;  // a .loom file: its drawing in small
    bool missing = false;
    bool sentence = false;  // the detail is words to be read: it wraps where a path is cut in its middle
  };
  explicit ProjectRow(Content content, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {240, sizeHint().height()}; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  void removeWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  int wordsWidth(int width) const;
  void paintThumbnail(QPainter& painter, const QRectF& frame) const;
  Content m_content;
  struct Block {
    QPointF at;
    QString category;
  };
  std::vector<Block> m_blocks;  // places of the nodes, and what they are
  std::vector<std::pair<int, int>> m_wires;
};

}  // namespace loom
