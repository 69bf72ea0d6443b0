import { useTexts } from '../../i18n';
import { buildCatalog } from '../build/texts';
import { wordsOf } from './words';

export const useWords = () => wordsOf(useTexts(buildCatalog));
