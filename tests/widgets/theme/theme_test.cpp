// The look: tokens, contrast, light and dark, icons, the stylesheet, the focus ring.
#include "widgets/theme/theme.h"

#include <QDirIterator>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QVBoxLayout>
#include <QtTest>
#include <tuple>

#include "engine/base/error.h"
#include "widgets/controls/button.h"
#include "widgets/theme/colour_scheme.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/status.h"

using namespace loom;

class ThemeTest : public QObject {
  Q_OBJECT

 private:
  static QByteArray tokenFile() {
    QFile file(QStringLiteral(GRADLOOM_SOURCE_DIR "/resources/styles/tokens.json"));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

 private Q_SLOTS:
  void tokensNameTheirFaults();
  void contrastHolds_data();
  void contrastHolds();
  void curvesAndCategoriesAreSeen();
  void switchesLightAndDark();
  void followsTheDesktop();
  void fallsBackToTheDesktopsPalette();
  void textSizeGrowsFontsAndRows();
  void reducedMotionStopsMotion();
  void stylesheetHasNoUnknownWords();
  void coloursStandOnlyInTheTokens();
  void keptFontsAndExtentsFollowTheTextSize();
  void everyIconRenders();
  void iconsTakeTheThemesColour();
  void everyStatusHasItsOwnShape();
  void focusRingComesWithTheKeyboard();
};

void ThemeTest::tokensNameTheirFaults() {
  const auto fault = [](const QByteArray& json) {
    try {
      Tokens::parse(json, "tokens");
      return QString();
    } catch (const Error& error) {
      return QString::fromUtf8(error.what());
    }
  };
  QVERIFY(fault(tokenFile()).isEmpty());
  QByteArray missing = tokenFile();
  missing.replace("\"sunken\"", "\"sunk\"");
  QVERIFY2(fault(missing).contains("sunken"), qPrintable(fault(missing)));
  QByteArray wrong = tokenFile();
  wrong.replace("\"#EEF1F5\"", "\"greyish\"");
  QVERIFY2(fault(wrong).contains("greyish") && fault(wrong).contains("sunken"), qPrintable(fault(wrong)));
}

void ThemeTest::contrastHolds_data() {
  QTest::addColumn<int>("ink");
  QTest::addColumn<QList<int>>("grounds");
  QTest::addColumn<double>("light");
  QTest::addColumn<double>("dark");
  const auto row = [](Colour ink, std::initializer_list<Colour> grounds, double light, double dark) {
    QList<int> list;
    for (const Colour ground : grounds) list << static_cast<int>(ground);
    QTest::addRow("%s on %d grounds", qPrintable(tokenName(ink)), int(grounds.size()))
        << static_cast<int>(ink) << list << light << dark;
  };
  using C = Colour;
  row(C::text, {C::app, C::surface, C::sunken, C::canvas, C::raised, C::hover, C::selected}, 13.4, 11.0);
  row(C::text2, {C::app, C::surface, C::sunken, C::canvas, C::raised, C::hover, C::selected}, 7.1, 6.9);
  row(C::text3, {C::app, C::surface, C::sunken, C::canvas, C::raised, C::hover, C::selected}, 4.5, 4.5);
  row(C::text, {C::pressed}, 13.4, 10.7);
  row(C::control, {C::app, C::surface, C::sunken}, 3.0, 3.0);
  row(C::onAccent, {C::accent, C::accentHover, C::accentPress}, 6.1, 4.7);
  row(C::accentText, {C::app, C::surface, C::accentSoft, C::selected}, 6.1, 6.1);
  row(C::focus, {C::app, C::surface, C::canvas, C::raised, C::selected}, 4.5, 4.5);
  row(C::ok, {C::app, C::surface, C::okSoft}, 5.1, 6.6);
  row(C::warning, {C::app, C::surface, C::warningSoft}, 5.5, 7.3);
  row(C::error, {C::app, C::surface, C::errorSoft}, 5.4, 6.2);
  row(C::axis, {C::surface, C::canvas}, 3.0, 3.0);
}

void ThemeTest::contrastHolds() {
  QFETCH(int, ink);
  QFETCH(QList<int>, grounds);
  QFETCH(double, light);
  QFETCH(double, dark);
  const auto check = [&](const Palette& palette, double least) {
    for (const int ground : grounds) {
      const double ratio = contrast(palette[static_cast<Colour>(ink)], palette[static_cast<Colour>(ground)]);
      QVERIFY2(ratio >= least,
               qPrintable(QStringLiteral("%1 on %2 is %3")
                              .arg(tokenName(static_cast<Colour>(ink)), tokenName(static_cast<Colour>(ground)))
                              .arg(ratio)));
    }
  };
  check(Tokens::builtIn().light, light);
  check(Tokens::builtIn().dark, dark);
  QCOMPARE(qRound(contrast(Qt::black, Qt::white) * 10), 210);
}

void ThemeTest::curvesAndCategoriesAreSeen() {
  for (const Palette* palette : {&Tokens::builtIn().light, &Tokens::builtIn().dark}) {
    QCOMPARE(palette->curves.size(), std::size_t{10});
    QCOMPARE(palette->layers.size(), 10);
    for (const QColor& curve : palette->curves) QVERIFY(contrast(curve, (*palette)[Colour::surface]) >= 3.0);
    for (const QColor& layer : palette->layers) {
      QVERIFY(contrast(layer, (*palette)[Colour::raised]) >= 4.2);
      QVERIFY(contrast(layer, (*palette)[Colour::canvas]) >= 4.2);
    }
  }
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QCOMPARE(theme.curveColour(13), theme.curveColour(3));
  QVERIFY(theme.curveDash(3, 1.75).isEmpty());
  QCOMPARE(theme.curveDash(13, 2), (QVector<qreal>{3, 1.5}));
  QCOMPARE(theme.curveDash(23, 1), (QVector<qreal>{2, 3}));
  QVERIFY(theme.curveColour(30).alphaF() < 0.5);
  QCOMPARE(theme.layerColour("convolution"), Tokens::builtIn().light.layers["convolution"]);
  QCOMPARE(theme.layerColour("no such category"), theme.layerColour("shape"));
}

void ThemeTest::switchesLightAndDark() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QSignalSpy changed(&theme, &Theme::changed);
  QVERIFY(!theme.isDark());
  QCOMPARE(qApp->palette().color(QPalette::Window), Tokens::builtIn().light[Colour::app]);
  theme.setMode(ThemeMode::dark);
  QCOMPARE(changed.count(), 1);
  QVERIFY(theme.isDark());
  QCOMPARE(qApp->palette().color(QPalette::Window), Tokens::builtIn().dark[Colour::app]);
  QVERIFY(qApp->styleSheet().contains(Tokens::builtIn().dark[Colour::accent].name(), Qt::CaseInsensitive));
  QVERIFY(!qApp->styleSheet().contains(Tokens::builtIn().light[Colour::accent].name(), Qt::CaseInsensitive));
  theme.setMode(ThemeMode::dark);
  QCOMPARE(changed.count(), 1);
  // A button that is already there takes the new ground.
  Button button(QStringLiteral("Train"), ButtonKind::filled);
  button.show();
  const auto ground = [&] { return button.grab().toImage().pixelColor(6, button.height() / 2); };
  QCOMPARE(ground(), Tokens::builtIn().dark[Colour::accent]);
  theme.setMode(ThemeMode::light);
  QCOMPARE(ground(), Tokens::builtIn().light[Colour::accent]);
}

void ThemeTest::followsTheDesktop() {
  ColourScheme scheme{QPalette(Qt::white)};
  QSignalSpy changed(&scheme, &ColourScheme::changed);
  const QString group = QStringLiteral("org.freedesktop.appearance"), key = QStringLiteral("color-scheme");
  QVERIFY(!scheme.dark());
  scheme.take(group, key, 1u);
  QVERIFY(scheme.dark());
  scheme.take(group, key, 1u);
  QCOMPARE(changed.count(), 1);
  scheme.take(group, key, 2u);
  QVERIFY(!scheme.dark());
  scheme.take(group, QStringLiteral("accent-color"), 1u);
  QCOMPARE(changed.count(), 2);
  QVERIFY(scheme.animations());
  scheme.take(QStringLiteral("org.gnome.desktop.interface"), QStringLiteral("enable-animations"), false);
  QVERIFY(!scheme.animations());
}

void ThemeTest::fallsBackToTheDesktopsPalette() {
  QPalette dark;
  dark.setColor(QPalette::Window, Qt::black);
  dark.setColor(QPalette::WindowText, Qt::white);
  ColourScheme scheme(dark);
  QVERIFY(scheme.dark());
  const QString group = QStringLiteral("org.freedesktop.appearance"), key = QStringLiteral("color-scheme");
  scheme.take(group, key, 2u);
  QVERIFY(!scheme.dark());
  scheme.take(group, key, 0u);  // no preference
  QVERIFY(scheme.dark());
}

void ThemeTest::textSizeGrowsFontsAndRows() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QCOMPARE(theme.font(FontRole::body).pointSizeF(), 12.5 * 0.75);
  QCOMPARE(theme.size(Size::field), 28);
  QCOMPARE(theme.font(FontRole::heading).weight(), QFont::DemiBold);
  QVERIFY(theme.numberFont().families().front().contains("JetBrains"));
  theme.setTextSize(150);
  QCOMPARE(theme.font(FontRole::body).pointSizeF(), 12.5 * 0.75 * 1.5);
  QCOMPARE(theme.size(Size::field), 42);
  QCOMPARE(theme.size(Size::icon), 16);
  theme.setTextSize(400);
  QCOMPARE(theme.textSize(), 150);
  theme.setTextSize(10);
  QCOMPARE(theme.textSize(), 90);
}

void ThemeTest::reducedMotionStopsMotion() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QCOMPARE(theme.duration(Motion::panel), 120);
  theme.setReducedMotion(true);
  QCOMPARE(theme.duration(Motion::panel), 0);
  QCOMPARE(theme.duration(Motion::hover), 0);
}

void ThemeTest::stylesheetHasNoUnknownWords() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QVERIFY(!qApp->styleSheet().contains('@'));
  QCOMPARE(fillStyleSheet("a { color: @text; }", theme),
           "a { color: " + Tokens::builtIn().light[Colour::text].name() + "; }");
  QVERIFY_EXCEPTION_THROWN(fillStyleSheet("a { color: @txt; }", theme), Error);
}

void ThemeTest::coloursStandOnlyInTheTokens() {
  static const QRegularExpression hex(QStringLiteral("#(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})\\b(?!['\\w])"));
  QStringList found;
  int read = 0;
  for (const char* folder : {"widgets", "app", "launcher", "resources"}) {
    QDirIterator files(QStringLiteral(GRADLOOM_SOURCE_DIR "/") + folder, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
      const QString name = files.next();
      static const QStringList kinds = {".h", ".cpp", ".in", ".qss", ".svg"};
      const bool source =
          std::any_of(kinds.begin(), kinds.end(), [&](const QString& kind) { return name.endsWith(kind); });
      // The application's icon is shown by the desktop, which knows no tokens.
      if (!source || name.endsWith("/icons/app/gradloom.svg")) continue;
      QFile file(name);
      QVERIFY(file.open(QIODevice::ReadOnly));
      ++read;
      const QStringList lines = QString::fromUtf8(file.readAll()).split('\n');
      for (int i = 0; i < lines.size(); ++i) {
        if (const auto match = hex.match(lines[i]); match.hasMatch())
          found << QStringLiteral("%1:%2: %3").arg(name).arg(i + 1).arg(match.captured());
      }
    }
  }
  QVERIFY(read > 60);
  QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

// What is kept follows the text size there and back; a layout looks again at what its parts want.
void ThemeTest::keptFontsAndExtentsFollowTheTextSize() {
  Theme theme(*qApp, {.mode = ThemeMode::light, .textSize = 100});
  QWidget window;
  auto* const column = new QVBoxLayout(&window);
  auto* const number = new QLabel(QStringLiteral("7.9e-8"));
  auto* const bar = new QWidget;
  column->addWidget(number);
  column->addWidget(bar);
  keepFont(number, FontRole::heading, Face::numbers);
  keepHeight(bar, Size::topBar);
  keepWidth(bar, 40);
  window.show();
  const auto measured = [&] {
    QCoreApplication::processEvents();
    return std::tuple(number->font().pointSizeF(), number->sizeHint().width(), bar->height(), bar->width());
  };
  const auto before = measured();
  theme.setTextSize(150);
  const auto large = measured();
  QCOMPARE(std::get<0>(large), std::get<0>(before) * 1.5);
  QVERIFY(number->width() >= number->sizeHint().width() && std::get<1>(large) > std::get<1>(before));
  QCOMPARE(std::get<2>(large), theme.size(Size::topBar));
  QCOMPARE(std::get<3>(large), 60);
  theme.setTextSize(100);
  QCOMPARE(measured(), before);
}

void ThemeTest::everyIconRenders() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QVERIFY(iconNames().size() >= 90);
  for (const QString& name : iconNames()) {
    const QImage image = iconPixmap(name, Qt::red, 16, 2).toImage();
    QCOMPARE(image.size(), QSize(32, 32));
    int inked = 0;
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 32; ++x) {
        const QColor pixel = image.pixelColor(x, y);
        if (pixel.alpha() > 128) {
          ++inked;
          QVERIFY2(pixel.red() > 240 && pixel.green() < 12, qPrintable(name));
        }
      }
    }
    QVERIFY2(inked > 12 && inked < 700, qPrintable(QStringLiteral("%1: %2 pixels").arg(name).arg(inked)));
  }
  QVERIFY(!hasIcon("no-such-icon"));
  QCOMPARE(layerIcon("no-such-icon", "pooling"), QStringLiteral("pooling"));
  QCOMPARE(layerIcon("add", "shape"), QStringLiteral("add"));
  QCOMPARE(layerIcon("", "nothing"), QStringLiteral("shape"));
  for (const QString& category : Tokens::builtIn().light.layers.keys())
    QVERIFY2(hasIcon(category), qPrintable(category));
}

void ThemeTest::iconsTakeTheThemesColour() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  const QIcon stop = icon("stop", Colour::error);
  const auto centre = [&](QIcon::Mode mode) { return stop.pixmap(QSize(16, 16), mode).toImage().pixelColor(8, 8); };
  QCOMPARE(centre(QIcon::Normal), Tokens::builtIn().light[Colour::error]);
  QCOMPARE(centre(QIcon::Disabled), Tokens::builtIn().light[Colour::disabled]);
  theme.setMode(ThemeMode::dark);
  QCOMPARE(centre(QIcon::Normal), Tokens::builtIn().dark[Colour::error]);
}

void ThemeTest::everyStatusHasItsOwnShape() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QList<QImage> shapes;
  for (int i = 0; i < 8; ++i) {
    const auto status = static_cast<Status>(i);
    QCOMPARE(statusOfIcon(statusIcon(status)).value(), status);
    QVERIFY(!statusWord(status).isEmpty());
    const QImage image = iconPixmap(statusIcon(status), Qt::black, 14, 2).toImage();
    for (const QImage& other : shapes) {
      int differing = 0;
      for (int y = 0; y < 28; ++y) {
        for (int x = 0; x < 28; ++x)
          differing += std::abs(image.pixelColor(x, y).alpha() - other.pixelColor(x, y).alpha()) > 128;
      }
      QVERIFY(differing > 30);
    }
    shapes << image;
  }
}

void ThemeTest::focusRingComesWithTheKeyboard() {
  Theme theme(*qApp, {.mode = ThemeMode::light});
  QWidget window;
  window.resize(300, 160);
  // The inner widget is as small as its field: the ring has to find room further out.
  QWidget inner(&window);
  inner.setGeometry(40, 20, 120, 28);
  QLineEdit field(&inner);
  field.setGeometry(0, 0, 120, 28);
  Button button(QStringLiteral("Go"), ButtonKind::outlined, &window);
  button.setGeometry(40, 80, 80, 28);
  window.show();
  window.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&window));
  const auto ring = [&]() -> QWidget* {
    for (QWidget* each : window.findChildren<QWidget*>("focusRing")) {
      if (each->isVisible()) return each;
    }
    return nullptr;
  };
  QTest::mouseClick(&button, Qt::LeftButton);
  button.setFocus(Qt::MouseFocusReason);
  QVERIFY(!ring());
  field.setFocus(Qt::MouseFocusReason);
  QVERIFY(ring());
  QCOMPARE(QRect(ring()->mapTo(&window, QPoint()), ring()->size()), QRect(38, 18, 124, 32));
  inner.move(60, 24);
  QCOMPARE(ring()->mapTo(&window, QPoint()), QPoint(58, 22));
  QTest::keyClick(&field, Qt::Key_Tab);
  QVERIFY(button.hasFocus());
  QVERIFY(ring());
  QCOMPARE(ring()->mapTo(&window, QPoint()), QPoint(38, 78));
  field.hide();
  button.hide();
  QVERIFY(!ring());
}

QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
