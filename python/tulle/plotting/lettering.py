"""Letters of 5 x 7 pixels, for pictures that hold nothing but pixels."""

from __future__ import annotations

import torch
from torch import Tensor

WIDTH, HEIGHT = 6, 9  # of a letter with the space around it

# The columns of each letter from left to right, the lowest bit on top.
_COLUMNS = {
    "0": "3e4549513e", "1": "00427f4000", "2": "4261514946", "3": "2241494936",
    "4": "1814127f10", "5": "2745454539", "6": "3e49494932", "7": "0171090503",
    "8": "3649494936", "9": "264949493e", "a": "2054545478", "b": "7f44444438",
    "c": "3844444428", "d": "384444447f", "e": "3854545418", "f": "087e090102",
    "g": "18a4a4a47c", "h": "7f04040478", "i": "00447d4000", "j": "4080847d00",
    "k": "7f10284400", "l": "00417f4000", "m": "7c047c0478", "n": "7c04040478",
    "o": "3844444438", "p": "fc24242418", "q": "18242424fc", "r": "7c08040408",
    "s": "4854545424", "t": "043f444420", "u": "3c4040407c", "v": "1c2040201c",
    "w": "3c4038403c", "x": "4428102844", "y": "1ca0a0a07c", "z": "4464544c44",
    "A": "7e1111117e", "B": "7f49494936", "C": "3e41414122", "D": "7f4141413e",
    "E": "7f49494941", "F": "7f09090901", "G": "3e41414932", "H": "7f0808087f",
    "I": "00417f4100", "J": "2040413f01", "K": "7f08142241", "L": "7f40404040",
    "M": "7f020c027f", "N": "7f0408107f", "O": "3e4141413e", "P": "7f09090906",
    "Q": "3e4151215e", "R": "7f09192946", "S": "2649494932", "T": "01017f0101",
    "U": "3f4040403f", "V": "1f2040201f", "W": "3f4038403f", "X": "6314081463",
    "Y": "0304780403", "Z": "6151494543",
    "(": "001c224100", ")": "0041221c00", "[": "007f414100", "]": "0041417f00",
    "{": "0008364100", "}": "0041360800", "<": "0814142222", ">": "2222141408",
    "=": "1414141414", "+": "08083e0808", "-": "0808080808", "*": "2a1c7f1c2a",
    "/": "2010080402", ".": "0060600000", ",": "0080603000", ":": "0036360000",
    ";": "0080b63600", "%": "2313086462", "_": "4040404040", " ": "0000000000",
}  # fmt: skip
_OTHER = "7f4141417f"  # a box for what has no letter here


def lettering(text: str, scale: int = 1) -> Tensor:
    """[height, width]: true where the text has ink, each pixel so many pixels wide and high."""
    ink = torch.zeros(HEIGHT, WIDTH * len(text), dtype=torch.bool)
    for number, letter in enumerate(text):
        columns = bytes.fromhex(_COLUMNS.get(letter, _OTHER))
        for x, column in enumerate(columns):
            for y in range(8):
                ink[y, WIDTH * number + x] = bool(column >> y & 1)
    return ink.repeat_interleave(scale, 0).repeat_interleave(scale, 1)
