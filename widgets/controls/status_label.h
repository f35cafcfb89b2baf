#pragma once
// A status as shape, word and colour. The quarter of `running` turns once in 1.2 s unless motion is reduced; as a pill
// it stands on the soft ground of its colour.
#include <QTimer>
#include <QWidget>

#include "widgets/theme/status.h"

namespace loom {

class StatusLabel : public QWidget {
  Q_OBJECT

 public:
  enum class Look { plain, pill };
  explicit StatusLabel(Status status = Status::queued, Look look = Look::plain, QWidget* parent = nullptr);

  // Without words the status' own.
  void setStatus(Status status, const QString& words = {});
  Status status() const { return m_status; }
  QString words() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void refreshTurning();
  Status m_status;
  Look m_look;
  QString m_words;
  QTimer m_turning;
  double m_turn = 0;
};

}  // namespace loom
