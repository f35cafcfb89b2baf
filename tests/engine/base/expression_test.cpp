#include "engine/base/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace loom {
namespace {

using testing::HasSubstr;

double valueOf(const std::string& text, std::initializer_list<double> values = {}) {
  return Expression(text).evaluate(std::vector<double>(values));
}

struct Calculated {
  const char* text;
  double value;
};
class Calculates : public testing::TestWithParam<Calculated> {};

TEST_P(Calculates, AsItIsWritten) {
  EXPECT_DOUBLE_EQ(valueOf(GetParam().text), GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, Calculates,
    testing::Values(Calculated{"1+2*3", 7}, Calculated{"(1+2)*3", 9}, Calculated{"-2^2", -4}, Calculated{"2^-1", 0.5},
                    Calculated{"2^3^2", 512}, Calculated{"2**10", 1024}, Calculated{"7/2", 3.5}, Calculated{"7//2", 3},
                    Calculated{"-7//2", -4}, Calculated{"7%3", 1}, Calculated{"-7 % 3", 2}, Calculated{"50%", 0.5},
                    Calculated{"200*5%", 10}, Calculated{"50%-1", -0.5}, Calculated{"2 - -1", 3}, Calculated{"2--1", 3},
                    Calculated{"- - 3", 3}, Calculated{"3×2·2−1", 11},
                    Calculated{"9007199254740991+1", 9007199254740992.0}, Calculated{"45_000", 45000},
                    Calculated{"45,000*2", 90000}, Calculated{"min(45,000,7)", 0}, Calculated{"32 k", 32000},
                    Calculated{"1.5M", 1.5e6}, Calculated{"2G", 2e9}, Calculated{"6.4e0", 6.4},
                    Calculated{"1e-3", 1e-3}, Calculated{".5+1.", 1.5}, Calculated{"max(2,3,1)+min(4,5)", 7},
                    Calculated{"floor(2.7)+ceil(2.1)+round(2.5)", 8}, Calculated{"sqrt(16)", 4},
                    Calculated{"abs(-3)*sign(-2)", -3}, Calculated{"log2(8)+log10(100)", 5},
                    Calculated{"log(exp(2))", 2}, Calculated{"1<2 && 2<=2 && 3!=4", 1}, Calculated{"1>2 || 2==3", 0},
                    Calculated{"!0+!5", 1}, Calculated{"1==1 ? 5 : 6", 5}, Calculated{"0 ? 1 : 0 ? 2 : 3", 3},
                    Calculated{"0 ? 1/0 : 4", 4}, Calculated{"1+2==3", 1}));

struct Refused {
  const char* text;
  const char* message;
  std::size_t position;
};
class Refuses : public testing::TestWithParam<Refused> {};

TEST_P(Refuses, WithTheReasonAndThePlace) {
  try {
    const Expression expression(GetParam().text);
    expression.evaluate(std::vector<double>(expression.names().size(), 1.0));
    FAIL() << GetParam().text << " was taken";
  } catch (const ExpressionError& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().message)) << GetParam().text;
    EXPECT_EQ(error.position(), GetParam().position) << GetParam().text << ": " << error.message();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Refuses,
    testing::Values(Refused{"", "a number is missing", 0}, Refused{"  ", "a number is missing", 0},
                    Refused{"2*", "a number is missing at the end", 2},
                    Refused{"*2", "a number is missing before '*'", 0},
                    Refused{"2 3", "a sign is missing before '3'", 2}, Refused{"(1", "a closing bracket is missing", 2},
                    Refused{"1)", "the bracket ) has no opening one", 1}, Refused{"2 $ 3", "'$' is not understood", 2},
                    Refused{"ä", "'ä' is not understood", 0}, Refused{"a=3", "== compares", 1},
                    Refused{"1,2", "',2' is not understood", 1}, Refused{"1/0", "division by zero", 0},
                    Refused{"3//(x-1)", "division by zero", 0}, Refused{"5 % 0", "division by zero", 0},
                    Refused{"10^400", "not finite", 0}, Refused{"1e999", "too large or too small", 0},
                    Refused{"1.2.3", "'1.2.3' is not a number", 0}, Refused{"sqrt(-1)", "not a finite number", 0},
                    Refused{"sin(3)", "there is no function 'sin'", 0},
                    Refused{"sqrt()", "a number is missing before ')'", 5}, Refused{"sqrt(1,2)", "fewer numbers", 8},
                    Refused{"Input[a]", "the number of an axis", 5}, Refused{"Input[0", "the number of an axis", 5},
                    Refused{"x[1234567]", "the number of an axis", 1}, Refused{"1 ? 2", "a ? b : c", 0},
                    Refused{"2(3)", "a sign is missing before '(3)'", 1}));

TEST(Expression, RefusesWhatIsEndless) {
  EXPECT_THROW(Expression(std::string(600, '1')), ExpressionError);
  EXPECT_THROW(Expression(std::string(100, '(') + "1" + std::string(100, ')')), ExpressionError);
  EXPECT_DOUBLE_EQ(valueOf(std::string(60, '(') + "1" + std::string(60, ')')), 1);
  EXPECT_DOUBLE_EQ(valueOf(std::string(400, '-') + "1"), 1);
}

TEST(Expression, NamesWhatItNeeds) {
  const Expression expression("channels*4 + Input[0]/2 - channels + Input[-1]*k2");
  ASSERT_EQ(expression.names().size(), 4u);
  EXPECT_EQ(expression.names()[0], (Expression::Name{"channels", std::nullopt}));
  EXPECT_EQ(expression.names()[1], (Expression::Name{"Input", 0}));
  EXPECT_EQ(expression.names()[1].position, 13u);
  EXPECT_EQ(expression.names()[2], (Expression::Name{"Input", -1}));
  EXPECT_EQ(expression.names()[3].name, "k2");
  EXPECT_DOUBLE_EQ(expression.evaluate(std::vector<double>{16, 6, 5, 3}), 16 * 4 + 3 - 16 + 15);
  // The same formula with other values: as a unit's fields are, once for each use.
  EXPECT_DOUBLE_EQ(expression.evaluate(std::vector<double>{1, 2, 3, 4}), 4 + 1 - 1 + 12);
  EXPECT_TRUE(Expression(" channels ").isName());
  EXPECT_FALSE(Expression("channels+0").isName());
  EXPECT_FALSE(Expression("-channels").isName());
  EXPECT_TRUE(Expression(" 32 ").isNumber());
  EXPECT_TRUE(Expression("-32").isNumber());
  EXPECT_FALSE(Expression("3-2").isNumber());
  EXPECT_FALSE(Expression("(32)").isNumber());
  EXPECT_FALSE(Expression("32 k").isNumber());
}

TEST(Expression, KnowsTheValuesBeforeItTellsOfADivision) {
  const Expression expression("8/i");
  EXPECT_DOUBLE_EQ(expression.evaluate(std::vector<double>{2}), 4);
  EXPECT_THROW(expression.evaluate(std::vector<double>{0}), ExpressionError);
  EXPECT_DOUBLE_EQ(expression.evaluate(std::vector<double>{4}), 2);
  EXPECT_DOUBLE_EQ(Expression("1/(x-1)").evaluate(std::vector<double>{3}), 0.5);
}

TEST(Expression, WholeNumbersAreExactAndNearOnesAreMeant) {
  EXPECT_EQ(wholeNumber(valueOf("3*7*11*13*17*19*23*29*31*37*41")),
            3ll * 7 * 11 * 13 * 17 * 19 * 23 * 29 * 31 * 37 * 41);
  EXPECT_EQ(wholeNumber(valueOf("0.1*3*10")), 3);
  EXPECT_EQ(wholeNumber(-4.0), -4);
  EXPECT_EQ(wholeNumber(2.5), std::nullopt);
  EXPECT_EQ(wholeNumber(3.0001), std::nullopt);
  EXPECT_EQ(wholeNumber(9007199254740992.0), 9007199254740992ll);
  EXPECT_EQ(wholeNumber(1e17), std::nullopt);
  EXPECT_EQ(wholeNumber(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(wholeNumber(std::nan("")), std::nullopt);
}

}  // namespace
}  // namespace loom
