#pragma once
// QTRY_VERIFY, QTRY_VERIFY2 and QTRY_COMPARE that wait for as long as a machine under load needs: Qt's own five seconds
// are what an idle one needs. Only a test that fails waits for all of it.
#include <QTest>

#undef QTRY_VERIFY
#undef QTRY_VERIFY2
#undef QTRY_COMPARE
#define QTRY_VERIFY(expression) QTRY_VERIFY_WITH_TIMEOUT((expression), ::loom::kTestPatience)
#define QTRY_VERIFY2(expression, words) QTRY_VERIFY2_WITH_TIMEOUT((expression), (words), ::loom::kTestPatience)
#define QTRY_COMPARE(expression, expected) QTRY_COMPARE_WITH_TIMEOUT((expression), expected, ::loom::kTestPatience)

namespace loom {
inline constexpr int kTestPatience = 30000;  // ms
}
