#pragma once
// The real window over a folder of its own, for tests that act as a person does. Everything in it ends with it.
#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "app/main_window.h"
#include "app/preferences.h"
#include "launcher/local_process.h"
#include "tests/patience.h"
#include "widgets/theme/theme.h"

namespace loom {

class OpenedWindow {
 public:
  // `line`: how hosts are reached.
  explicit OpenedWindow(LineOptions line = {})
      : m_theme(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true}),
        m_preferences(path("gradloom.ini")),
        m_workspace(
            WorkspaceOptions{
                .dataFolder = path("data"), .program = QStringLiteral(LOOM_PROGRAM), .line = std::move(line)},
            m_theme, m_preferences),
        m_window(std::make_unique<MainWindow>(m_workspace)) {
    m_window->resize(1440, 900);
    m_window->show();
    m_window->activateWindow();
    [&] { QVERIFY(QTest::qWaitForWindowActive(m_window.get())); }();
  }
  ~OpenedWindow() { m_window.reset(); }

  MainWindow& window() { return *m_window; }
  Workspace& workspace() { return m_workspace; }
  ProjectDocument& document() { return *m_workspace.document(); }
  const Project& project() { return document().project(); }

  QString path(const QString& name) const { return m_folder.filePath(name); }
  QString write(const QString& name, const QByteArray& content) {
    QDir().mkpath(QFileInfo(path(name)).absolutePath());
    QFile file(path(name));
    [&] { QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size()); }();
    return file.fileName();
  }

  template <class T>
  T* part(const char* name) {
    return m_window->findChild<T*>(name);
  }
  void click(const char* name) {
    QTRY_VERIFY2(part<QAbstractButton>(name), name);
    auto* button = part<QAbstractButton>(name);
    QTRY_VERIFY2(button->isVisible() && button->isEnabled(), name);
    QTest::mouseClick(button, Qt::LeftButton);
  }
  void drop(const QStringList& paths) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& each : paths) urls += QUrl::fromLocalFile(each);
    data.setUrls(urls);
    QDragEnterEvent enter(m_window->rect().center(), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(m_window.get(), &enter);
    QDropEvent event(QPointF(m_window->rect().center()), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(m_window.get(), &event);
  }
  // Types into what has the focus, in place of what stands there, and confirms.
  void type(const QString& text) {
    if (auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) line->selectAll();
    QTest::keyClicks(QApplication::focusWidget(), text);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCoreApplication::processEvents();
  }
  // Offscreen nobody gives a window back what a card or a menu of it had.
  void activate() {
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
  }
  void undo() {
    activate();
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
    QCoreApplication::processEvents();
  }

 private:
  QTemporaryDir m_folder;
  Theme m_theme;
  Preferences m_preferences;
  Workspace m_workspace;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace loom
