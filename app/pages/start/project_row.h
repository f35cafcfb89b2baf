#pragma once
// A line of the Start page that can be pressed: a small drawing, a name, words below it, words at its right.
#include <QAbstractButton>
#include <QPixmap>
#include <memory>
#include <optional>

#include "app/project_facts.h"
#include "widgets/theme/status.h"

namespace loom {

class ProjectRow : public QAbstractButton {
  Q_OBJECT

 public:
  struct Content {
    QString title, detail, value, moment;
    std::optional<Status> status;
    bool told = false;  // two more lines: what setFacts() says
    bool missing = false;
    bool sentence = false;  // the detail is words to be read: it wraps where a path is cut in its middle
  };
  explicit ProjectRow(Content content, QWidget* parent = nullptr);
  // The drawing in small, and what the project is.
  void setFacts(const ProjectFacts& facts);
  // What stands in the lines below the folder.
  QStringList lines() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {240, sizeHint().height()}; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  void removeWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  int leastHeight() const;
  int wordsWidth(int width) const;
  void paintThumbnail(QPainter& painter, const QRectF& frame) const;
  Content m_content;
  ProjectFacts m_facts;
};

}  // namespace loom
