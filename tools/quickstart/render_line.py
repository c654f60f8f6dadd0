#!/usr/bin/python3
"""render_line.py TEXT FONT OUT.pgm: renders one line of text, black on white, as an 8-bit binary PGM, as a scanner would see it.

The size is what a recogniser of text lines expects: a little air around the letters, which fill most of the height.
"""
import sys

from PIL import Image, ImageDraw, ImageFont

FONT_PIXELS = 40
MARGIN = 8


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    text, font_path, out = sys.argv[1:]
    font = ImageFont.truetype(font_path, FONT_PIXELS)
    # The same height for every text: from the highest accent to the lowest descender.
    ascent, descent = font.getmetrics()
    width = round(font.getlength(text)) + 2 * MARGIN
    image = Image.new("L", (width, ascent + descent + MARGIN), 255)
    ImageDraw.Draw(image).text((MARGIN, MARGIN // 2), text, fill=0, font=font)
    image.save(out, format="PPM")


if __name__ == "__main__":
    main()
