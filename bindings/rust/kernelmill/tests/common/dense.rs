//! Matrices of small whole numbers on the host, by which BLAS is checked: results are exact.
#![allow(dead_code)] // each test program uses a part of it

use kernelmill::blas::{Complex, Layout, Number, Triangle};

/// A complex number of the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct C(pub f64, pub f64);

impl C {
    pub fn conj(self) -> Self {
        Self(self.0, -self.1)
    }
}
impl std::ops::Add for C {
    type Output = C;
    fn add(self, other: C) -> C {
        C(self.0 + other.0, self.1 + other.1)
    }
}
impl std::ops::Mul for C {
    type Output = C;
    fn mul(self, other: C) -> C {
        C(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

/// Types of elements, to and from numbers of the host.
pub trait Element: Number {
    const IS_COMPLEX: bool;
    fn of(value: C) -> Self;
    fn value(self) -> C;
    fn real(value: f64) -> Self::Real;
}

macro_rules! element {
    ($($real:ty)*) => {
        $(
            impl Element for $real {
                const IS_COMPLEX: bool = false;
                fn of(value: C) -> Self { value.0 as $real }
                fn value(self) -> C { C(f64::from(self), 0.0) }
                fn real(value: f64) -> $real { value as $real }
            }
            impl Element for Complex<$real> {
                const IS_COMPLEX: bool = true;
                fn of(value: C) -> Self { Complex::new(value.0 as $real, value.1 as $real) }
                fn value(self) -> C { C(f64::from(self.re), f64::from(self.im)) }
                fn real(value: f64) -> $real { value as $real }
            }
        )*
    };
}
element! { f32 f64 }

/// Small whole numbers, different for each `salt`.
pub fn numbers<T: Element>(count: usize, salt: usize) -> Vec<C> {
    let digit = |i: usize| ((i * 7 + salt * 5 + i * i) % 7) as f64 - 3.0;
    (0..count).map(|i| C(digit(i), if T::IS_COMPLEX { digit(i + 3) } else { 0.0 })).collect()
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    pub rows: usize,
    pub columns: usize,
    pub numbers: Vec<C>, // by rows
}

impl Dense {
    pub fn by(rows: usize, columns: usize, number: impl Fn(usize, usize) -> C) -> Self {
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        Self { rows, columns, numbers: places.map(|(i, j)| number(i, j)).collect() }
    }

    pub fn new<T: Element>(rows: usize, columns: usize, salt: usize) -> Self {
        Self { rows, columns, numbers: numbers::<T>(rows * columns, salt) }
    }

    /// One column.
    pub fn vector(numbers: &[C]) -> Self {
        Self { rows: numbers.len(), columns: 1, numbers: numbers.to_vec() }
    }

    pub fn at(&self, i: usize, j: usize) -> C {
        self.numbers[i * self.columns + j]
    }

    pub fn transpose(&self) -> Self {
        Self::by(self.columns, self.rows, |i, j| self.at(j, i))
    }

    pub fn conj(&self) -> Self {
        Self::by(self.rows, self.columns, |i, j| self.at(i, j).conj())
    }

    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        let sum = |i, j| {
            (0..self.columns).fold(C(0.0, 0.0), |sum, k| sum + self.at(i, k) * other.at(k, j))
        };
        Self::by(self.rows, other.columns, sum)
    }

    pub fn scaled(&self, factor: C) -> Self {
        Self::by(self.rows, self.columns, |i, j| factor * self.at(i, j))
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self::by(self.rows, self.columns, |i, j| self.at(i, j) + other.at(i, j))
    }

    /// The matrix that one triangle stands for: symmetric, or Hermitian with a real diagonal.
    pub fn mirrored(&self, triangle: Triangle, is_hermitian: bool) -> Self {
        Self::by(self.rows, self.columns, |i, j| match (i == j, in_triangle(triangle, i, j)) {
            (true, _) if is_hermitian => C(self.at(i, i).0, 0.0),
            (_, true) => self.at(i, j),
            _ if is_hermitian => self.at(j, i).conj(),
            _ => self.at(j, i),
        })
    }

    /// One triangle, with ones on the diagonal, else zeros.
    pub fn unit_triangle(&self, triangle: Triangle) -> Self {
        Self::by(self.rows, self.columns, |i, j| match in_triangle(triangle, i, j) {
            _ if i == j => C(1.0, 0.0),
            true => self.at(i, j),
            false => C(0.0, 0.0),
        })
    }

    /// This triangle of `new`, the other one as it is here.
    pub fn with_triangle(&self, triangle: Triangle, new: &Self) -> Self {
        let choice = |i, j| if in_triangle(triangle, i, j) { new.at(i, j) } else { self.at(i, j) };
        Self::by(self.rows, self.columns, choice)
    }

    /// Zeros but for so many diagonals below and above the main one.
    pub fn band(&self, lower: usize, upper: usize) -> Self {
        let is_in = |i: usize, j: usize| i <= j + lower && j <= i + upper;
        Self::by(
            self.rows,
            self.columns,
            |i, j| {
                if is_in(i, j) { self.at(i, j) } else { C(0.0, 0.0) }
            },
        )
    }

    /// In memory, with lines that begin `gap` elements after the end of the one before.
    pub fn stored<T: Element>(&self, layout: Layout, gap: usize) -> Vec<T> {
        let by_rows = if layout == Layout::ROWS { self.clone() } else { self.transpose() };
        let lines = by_rows.numbers.chunks(by_rows.columns);
        lines
            .flat_map(|line| line.iter().copied().chain(vec![C(9.0, 9.0); gap]))
            .map(T::of)
            .collect()
    }

    pub fn from_stored<T: Element>(
        layout: Layout,
        rows: usize,
        columns: usize,
        gap: usize,
        memory: &[T],
    ) -> Self {
        let place = |i, j| match layout {
            Layout::ROWS => i * (columns + gap) + j,
            _ => j * (rows + gap) + i,
        };
        Self::by(rows, columns, |i, j| memory[place(i, j)].value())
    }

    /// The band in memory: each line with lower + upper + 1 elements.
    pub fn stored_band<T: Element>(&self, layout: Layout, lower: usize, upper: usize) -> Vec<T> {
        let (lines, before) =
            if layout == Layout::ROWS { (self.rows, lower) } else { (self.columns, upper) };
        let element = |line: usize, place: usize| {
            let across = (line + place).checked_sub(before)?;
            let (i, j) = if layout == Layout::ROWS { (line, across) } else { (across, line) };
            (i < self.rows && j < self.columns).then(|| self.at(i, j))
        };
        let places =
            (0..lines).flat_map(|line| (0..=lower + upper).map(move |place| (line, place)));
        places.map(|(line, place)| T::of(element(line, place).unwrap_or(C(9.0, 9.0)))).collect()
    }

    /// One triangle in memory, line after line.
    pub fn packed<T: Element>(&self, layout: Layout, triangle: Triangle) -> Vec<T> {
        packed_places(layout, triangle, self.rows).map(|(i, j)| T::of(self.at(i, j))).collect()
    }

    /// The triangle in memory, zeros elsewhere.
    pub fn from_packed<T: Element>(
        layout: Layout,
        triangle: Triangle,
        order: usize,
        memory: &[T],
    ) -> Self {
        let mut result = Self::by(order, order, |_, _| C(0.0, 0.0));
        for ((i, j), number) in packed_places(layout, triangle, order).zip(memory) {
            result.numbers[i * order + j] = number.value();
        }
        result
    }
}

fn in_triangle(triangle: Triangle, i: usize, j: usize) -> bool {
    if triangle == Triangle::LOWER { i >= j } else { i <= j }
}

fn packed_places(
    layout: Layout,
    triangle: Triangle,
    order: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let places = (0..order).flat_map(move |line| (0..order).map(move |place| (line, place)));
    let places = places.map(
        move |(line, place)| if layout == Layout::ROWS { (line, place) } else { (place, line) },
    );
    places.filter(move |(i, j)| in_triangle(triangle, *i, *j))
}
