#include <QtTest>
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"
using namespace loom;
class ThemeTest : public QObject { Q_OBJECT
 private Q_SLOTS:
  void starts() { Theme t(*qApp, {.mode=ThemeMode::light}); QVERIFY(!t.isDark()); QVERIFY(hasIcon("network")); }
};
QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
