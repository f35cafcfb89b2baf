#include "widgets/canvas/comment_editor.h"

#include <QKeyEvent>
#include <algorithm>
#include <utility>

#include "widgets/canvas/network_view.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/texts.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr QSizeF kNewComment(240, 96);
}

CommentEditor::CommentEditor(NetworkView& view) : QPlainTextEdit(view.viewport()), m_view(view) {
  setAccessibleName(tr("Comment"));
  setPlaceholderText(tr("What should a reader know?"));
  setStyleProperty(this, "kind", QStringLiteral("framed"));
  setTabChangesFocus(true);
  hide();
}

void CommentEditor::edit(const std::string& id) {
  const Comment* comment = m_view.networkScene().network().comment(id);
  if (comment == nullptr) return;
  m_id = id;
  m_rect = commentRect(*comment);
  if (CommentItem* item = m_view.networkScene().groups().comment(id)) item->setEdited(true);
  open(q(comment->text));
}

void CommentEditor::editNew(QPointF at) {
  m_id.clear();
  m_rect = QRectF(snapped(at), kNewComment);
  open({});
}

void CommentEditor::open(const QString& text) {
  setPlainText(text);
  show();
  raise();
  place();
  selectAll();
  setFocus(Qt::ShortcutFocusReason);
}

void CommentEditor::place() {
  if (!isVisible()) return;
  const double zoom = m_view.zoom();
  QFont font = Theme::withWeight(Theme::of(this).font(FontRole::body), 400);
  font.setPointSizeF(font.pointSizeF() * std::clamp(zoom, 0.7, 2.0));
  setFont(font);
  const QRect there = m_view.mapFromScene(m_rect.adjusted(4, 22, 2, 4)).boundingRect();
  setGeometry(QRect(there.topLeft(), there.size().expandedTo(QSize(160, 64))));
}

void CommentEditor::finish() {
  if (!isVisible()) return;
  hide();
  NetworkScene& scene = m_view.networkScene();
  const std::string id = std::exchange(m_id, {}), text = toPlainText().trimmed().toStdString();
  if (CommentItem* item = scene.groups().comment(id)) item->setEdited(false);
  const Comment* before = scene.network().comment(id);
  if (before == nullptr && id.empty() && !text.empty()) {
    Comment comment;
    comment.text = text;
    comment.x = m_rect.center().x(), comment.y = m_rect.center().y();
    comment.width = m_rect.width(), comment.height = std::max(m_rect.height(), 28.0 + document()->blockCount() * 19.0);
    comment.y = m_rect.top() + comment.height / 2;
    const std::string made = scene.document().addComment(scene.networkName(), comment);
    scene.pick({{}, {}, {}, {made}});
  } else if (before != nullptr && text.empty()) {
    scene.document().removeThings(scene.networkName(), {}, {id}, false);
  } else if (before != nullptr && text != before->text) {
    Comment comment = *before;
    comment.text = text;
    scene.document().setComment(scene.networkName(), comment);
  }
}

bool CommentEditor::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && !(static_cast<QKeyEvent*>(event)->modifiers() & Qt::AltModifier)) {
    event->accept();  // letters and the keys of a text are its own
    return true;
  }
  return QPlainTextEdit::event(event);
}

void CommentEditor::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (event->key() == Qt::Key_Escape || (enter && (event->modifiers() & Qt::ControlModifier))) {
    finish();
    m_view.setFocus(Qt::OtherFocusReason);
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
}

void CommentEditor::focusOutEvent(QFocusEvent* event) {
  QPlainTextEdit::focusOutEvent(event);
  if (event->reason() != Qt::PopupFocusReason && event->reason() != Qt::ActiveWindowFocusReason) finish();
}

}  // namespace loom
