// Directory that the server serves, and the expected results of its tools.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** 100 lines, one for each of 100 concurrent calls. */
export const NUMBERS = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`);

/** Text files that the server lists, reads and searches: path to text. */
export const TEXTS = {
  'notes/numbers.txt': NUMBERS.map((line) => `${line}\n`).join(''),
  'notes/poem.txt': 'Ein Männlein steht im Walde\nganz still und stumm,\nes hat vor lauter Purpur\n',
  'src/main.rs': 'fn main() {\n    println!("needle");\n}\n',
  'top.md': '# Top\nno thread here\n',
};

/** Binary file that the server only lists. */
export const BINARY = { 'binary.dat': 'needle\0\n' };

/** Hidden and ignored files, which the server must not show. */
const OTHERS = {
  '.gitignore': 'ignored.txt\n',
  '.hidden': 'needle\n',
  'ignored.txt': 'needle\n',
};

/** Creates the files, and a secret next to the directory. */
export function fillTree(root) {
  writeFileSync(join(dirname(root), 'secret.txt'), 'needle outside\n');
  for (const [path, text] of Object.entries({ ...TEXTS, ...BINARY, ...OTHERS })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  symlinkSync(join('..', 'secret.txt'), join(root, 'escape.txt'));
}

/** The lines of `TEXTS` with `needle` in them, as `files.search` reports them. */
export function linesWith(needle) {
  return Object.entries(TEXTS).flatMap(([path, text]) =>
    text
      .split('\n')
      .map((line, index) => ({ path, line: index + 1, text: line }))
      .filter((match) => match.text.includes(needle)),
  );
}
