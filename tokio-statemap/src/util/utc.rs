//! Dates in UTC.

/// A second in UTC, as a date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Utc {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
}

impl Utc {
    /// Converts seconds since the Unix epoch, by Howard Hinnant's `civil_from_days`
    /// (<https://howardhinnant.github.io/date_algorithms.html>). Its years begin in March, so that the leap
    /// day comes last.
    pub(crate) fn from_unix(seconds: u64) -> Self {
        const DAYS_OF_400_YEARS: u64 = 146_097;
        let since_0000_03_01 = seconds / 86_400 + 719_468;
        let era = since_0000_03_01 / DAYS_OF_400_YEARS;
        let day = since_0000_03_01 % DAYS_OF_400_YEARS;
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day_of_year + 2) / 153;
        let (month_of_year, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        Self {
            year: era * 400 + year + next_year,
            month: month_of_year,
            day: day_of_year - (153 * month + 2) / 5 + 1,
            hour: seconds / 3600 % 24,
            minute: seconds / 60 % 60,
            second: seconds % 60,
        }
    }
}
