/** What has been begun and not ended. */
export interface UnderWay {
  note(work: Promise<unknown>): void;
  /** Resolves once nothing is under way. */
  done(): Promise<void>;
}

/** Work whose client may be gone: no connection tells of it any more. */
export function createUnderWay(): UnderWay {
  const works = new Set<Promise<unknown>>();
  return {
    note: (work) => {
      const ended = work.then(
        () => void works.delete(ended),
        () => void works.delete(ended),
      );
      works.add(ended);
    },
    done: async () => {
      while (works.size > 0) await Promise.all(works);
    },
  };
}
