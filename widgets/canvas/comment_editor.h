#pragma once
// The field over a comment while it is written. Esc and a click elsewhere keep what stands there, Ctrl+Enter too; a new
// comment without words does not come to be, one whose words are gone goes.
#include <QPlainTextEdit>
#include <QPointF>
#include <string>

namespace loom {

class NetworkView;

class CommentEditor : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit CommentEditor(NetworkView& view);
  void edit(const std::string& id);
  void editNew(QPointF at);  // its top left corner
  bool isEditing() const { return isVisible(); }
  void place();  // follows the canvas

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void finish();
  void open(const QString& text);
  NetworkView& m_view;
  std::string m_id;  // empty: a new one
  QRectF m_rect;     // in the scene
};

}  // namespace loom
