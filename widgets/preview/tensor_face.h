#pragma once
// One tensor: pictures of its channels, or its first values; histogram and figures. Or the reason why there is none.
#include <QImage>
#include <QTimer>
#include <QWidget>
#include <optional>
#include <vector>

#include "engine/program/tensor_summary.h"

namespace loom {

class Button;

class TensorFace : public QWidget {
  Q_OBJECT

 public:
  explicit TensorFace(QWidget* parent = nullptr);

  void setTensor(const TensorSummary& tensor);
  // It is being computed. `shape`: as the drawing says, so that the tiles stand where they will; null = not known.
  void setLoading(const std::optional<Shape>& shape, const QString& words = {});
  void setSentence(const QString& sentence);  // why there are no values
  void clear();

  const std::optional<TensorSummary>& tensor() const { return m_tensor; }
  const QString& sentence() const { return m_sentence; }
  bool isLoading() const { return m_loading; }
  int firstTile() const { return m_first; }
  void showNext();  // further channels; from the last ones to the first
  QString spoken() const;

  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  void heightChanged();
  void startWanted();  // where what is not finite starts

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Grid {
    int tiles = 0, columns = 1;
    double width = 0, height = 0;  // of a tile
  };
  Grid grid(double width) const;
  double picturesHeight(double width) const;
  bool showsBins() const;
  bool isFaulty() const { return !m_loading && m_tensor && m_tensor->nan + m_tensor->infinite > 0; }
  void paintTiles(QPainter& painter, double width) const;
  void paintValues(QPainter& painter, double width) const;
  double paintHistogram(QPainter& painter, double top, double width) const;
  void paintFigures(QPainter& painter, double top, double width) const;
  QString pictureWords() const;
  QImage picture(int tile) const;
  void arrange();
  void renew();

  std::optional<TensorSummary> m_tensor;
  QString m_sentence, m_words;
  bool m_loading = false;
  bool m_grey = false;  // it has been loading long enough to say so
  int m_first = 0;
  Button *m_next, *m_start;
  QTimer m_late;
};

}  // namespace loom
