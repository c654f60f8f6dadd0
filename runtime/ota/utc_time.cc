#include "runtime/ota/utc_time.h"

#include <cstdio>

namespace aot::ota {
namespace {

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back
// (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

void CivilFromDays(int64_t days, int64_t* year, int* month, int* day) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  *day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  *month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  *year = year_of_era + era * 400 + (*month <= 2);
}

}  // namespace

bool ParseUtcTime(std::string_view text, int64_t* seconds) {
  static constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kShape.size()) return false;
  int field[6] = {};
  int index = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] == 'd') {
      if (text[i] < '0' || text[i] > '9') return false;
      field[index] = field[index] * 10 + (text[i] - '0');
    } else {
      if (text[i] != kShape[i]) return false;
      ++index;
    }
  }
  const auto [year, month, day, hour, minute, second] = field;
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return false;
  const int64_t days = DaysFromCivil(year, month, day);
  int64_t same_year = 0;
  int same_month = 0;
  int same_day = 0;
  CivilFromDays(days, &same_year, &same_month, &same_day);
  if (same_year != year || same_month != month || same_day != day) return false;
  *seconds = days * 86400 + hour * 3600 + minute * 60 + second;
  return true;
}

std::string FormatUtcTime(int64_t seconds) {
  int64_t days = seconds / 86400;
  int64_t rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  int64_t year = 0;
  int month = 0;
  int day = 0;
  CivilFromDays(days, &year, &month, &day);
  char text[64];
  snprintf(text, sizeof(text), "%04lld-%02d-%02dT%02d:%02d:%02dZ", static_cast<long long>(year), month, day,
           static_cast<int>(rest / 3600), static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return text;
}

}  // namespace aot::ota
