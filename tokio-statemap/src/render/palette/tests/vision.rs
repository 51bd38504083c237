//! The perception of colours: contrast, distance, and both with colour-blind eyes.

use super::Rgb;

/// Linear red, green and blue, from 0 to 1.
pub(super) type Light = [f64; 3];

/// A kind of colour vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eyes {
    All,
    NoRed,
    NoGreen,
    NoBlue,
}

impl Eyes {
    pub(super) const EACH: [Self; 4] = [Self::All, Self::NoRed, Self::NoGreen, Self::NoBlue];

    /// Returns what such eyes see: protanopia, deuteranopia and tritanopia of the highest severity by Machado,
    /// Oliveira and Fernandes (2009).
    fn see(self, light: Light) -> Light {
        let matrix = match self {
            Self::All => return light,
            Self::NoRed => [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
            Self::NoGreen => [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
            Self::NoBlue => [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        };
        matrix.map(|row| dot(row, light).clamp(0.0, 1.0))
    }
}

fn dot(row: [f64; 3], light: Light) -> f64 {
    row.iter().zip(light).map(|(a, b)| a * b).sum()
}

/// Returns an sRGB colour as linear light.
pub(super) fn light(colour: Rgb) -> Light {
    colour.channels().map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    })
}

fn luminance(colour: Rgb) -> f64 {
    dot([0.2126, 0.7152, 0.0722], light(colour))
}

/// Returns the contrast of two colours by WCAG 2, from 1 to 21.
pub(super) fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns the lightness in greyscale: CIE L*, from 0 to 100.
pub(super) fn greyscale(colour: Rgb) -> f64 {
    match luminance(colour) {
        y if y <= 0.008_856 => 903.3 * y,
        y => 116.0 * y.cbrt() - 16.0,
    }
}

/// Returns a colour in OKLab.
fn oklab(light: Light) -> [f64; 3] {
    let cones = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ]
    .map(|row| dot(row, light).cbrt());
    [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ]
    .map(|row| dot(row, cones))
}

/// Returns the distance of two colours in OKLab as such eyes see it: 0.02 is just noticeable, black and white are
/// 1 apart.
pub(super) fn apart(a: Rgb, b: Rgb, eyes: Eyes) -> f64 {
    let (a, b) = (oklab(eyes.see(light(a))), oklab(eyes.see(light(b))));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Returns the chroma in OKLab: 0 is grey, the purest colours of a screen have 0.3.
pub(super) fn chroma(colour: Rgb) -> f64 {
    let [_, a, b] = oklab(light(colour));
    a.hypot(b)
}

#[test]
fn known_values() {
    let (black, white, red) = (Rgb(0), Rgb(0xff_ffff), Rgb(0xff_0000));
    let green = Rgb(0x00_8000);
    assert!((contrast(black, white) - 21.0).abs() < 1e-9);
    assert!((greyscale(white) - 100.0).abs() < 1e-3 && greyscale(black).abs() < 1e-9);
    // An example of WCAG: #777 on white misses 4.5.
    assert!((contrast(Rgb(0x77_7777), white) - 4.478).abs() < 0.01);
    assert!((apart(black, white, Eyes::All) - 1.0).abs() < 1e-3);
    for eyes in Eyes::EACH {
        // All eyes see the same greys.
        assert!((apart(black, white, eyes) - 1.0).abs() < 1e-2, "{eyes:?}");
    }
    assert!(chroma(white) < 1e-3 && chroma(red) > 0.25);
    // Red and green of similar lightness: far apart for most eyes, close for those that can't distinguish them.
    let dark_red = Rgb(0xc0_0000);
    let seen = |eyes| apart(dark_red, green, eyes);
    assert!(seen(Eyes::NoGreen) < 0.5 * seen(Eyes::All), "{}", seen(Eyes::NoGreen));
    assert!(seen(Eyes::NoBlue) > 0.8 * seen(Eyes::All), "{}", seen(Eyes::NoBlue));
}
