/** One line of what was found. A note is about something that works at a cost, and says what to do. */
export interface Finding {
  mark: 'ok' | 'note' | 'failed';
  text: string;
}

export const note = (text: string): Finding => ({ mark: 'note', text });
