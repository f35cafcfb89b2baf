#pragma once
// The Network page in a window of its own, for tests that act as a person does. Pictures are written where
// GRADLOOM_PICTURES names a folder.
#include <QApplication>
#include <QDir>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "app/pages/network/network_page.h"
#include "app/preferences.h"
#include "widgets/canvas/network_view.h"
#include "widgets/theme/theme.h"

namespace loom {

class PageAlone {
 protected:
  void openPage() {
    QStandardPaths::setTestModeEnabled(true);
    if (!m_theme)
      m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
    m_document = std::make_unique<ProjectDocument>();
    m_context = {};
    m_context.document = m_document.get();
    m_context.theme = m_theme.get();
    m_context.commands = &m_commands;
    m_preferences = std::make_unique<Preferences>(m_folder.filePath("gradloom.ini"));
    m_context.preferences = m_preferences.get();
    m_page = std::make_unique<NetworkPage>(m_context);
    m_page->resize(1364, 824);
    m_page->QWidget::show();
    m_page->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_page.get()));
    m_page->activated();
  }
  void closePage() {
    m_page.reset();
    m_document->discardRecovery();
    m_document.reset();
  }
  void open(const char* text) {
    QVERIFY(document().openText(text, "drawing"));
    settle();
    view().fit();
    view().setFocus();
  }

  ProjectDocument& document() { return *m_document; }
  NetworkView& view() { return m_page->view(); }
  const Network& drawn() { return m_page->scene().network(); }
  QPoint at(QPointF scene) { return view().mapFromScene(scene); }
  QPoint card(const std::string& id) { return at(m_page->scene().card(id)->pos()); }
  void click(QPoint place, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(view().viewport(), Qt::LeftButton, modifiers, place);
  }
  void drag(QPoint from, QPoint to) {
    QTest::mousePress(view().viewport(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view().viewport(), (from + to) / 2);
    QTest::mouseMove(view().viewport(), to);
    QTest::mouseRelease(view().viewport(), Qt::LeftButton, {}, to);
  }
  void key(Qt::Key which, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(QApplication::focusWidget(), which, modifiers);
  }
  void type(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
  void settle() {
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
  }
  void picture(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) return;
    QDir().mkpath(folder);
    settle();
    m_page->grab().save(QDir(folder).filePath(name + ".png"));
  }

  QTemporaryDir m_folder;
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<Preferences> m_preferences;  // outlives the page
  std::unique_ptr<ProjectDocument> m_document;
  AppContext m_context;
  Commands m_commands;  // outlives the page
  std::unique_ptr<NetworkPage> m_page;
};

}  // namespace loom
