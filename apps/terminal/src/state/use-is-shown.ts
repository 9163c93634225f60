import { type RefObject, useEffect, useRef } from "react";

/** Whether the component is still shown, for what arrives later. */
export function useIsShown(): RefObject<boolean> {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}
