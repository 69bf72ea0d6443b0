import { useSyncExternalStore } from 'react';
import { type Work, currentWorks, subscribeToWorks } from './work';

export const useWorks = (): readonly Work[] => useSyncExternalStore(subscribeToWorks, currentWorks);
