-- SPDX-License-Identifier: GPL-2.0-only OR MIT
-- A Haskell program: laziness, exceptions, threads, and C's qsort() that calls
-- back into it.
module Main where

import Control.Concurrent
import Control.Exception
import qualified Data.Map.Strict as Map
import Foreign
import Foreign.C.Types

type Compare = Ptr CInt -> Ptr CInt -> IO CInt

foreign import ccall "wrapper" wrap :: Compare -> IO (FunPtr Compare)
foreign import ccall "stdlib.h qsort"
  c_qsort :: Ptr CInt -> CSize -> CSize -> FunPtr Compare -> IO ()

compareInts :: Compare
compareInts a b = (-) <$> peek a <*> peek b

sorted :: [CInt] -> IO [CInt]
sorted list = withArrayLen list $ \n array -> do
  callback <- wrap compareInts
  c_qsort array (fromIntegral n) 4 callback
  freeHaskellFunPtr callback
  peekArray n array

main :: IO ()
main = do
  done <- newEmptyMVar
  mapM_ (\n -> forkIO (putMVar done (sum [1 .. n :: Int]))) [10, 20, 30]
  sums <- mapM (const (takeMVar done)) [1 .. 3 :: Int]
  numbers <- sorted [fromIntegral (i * 7919 `mod` 101) | i <- [1 .. 20 :: Int]]
  failed <- try (evaluate (1 `div` (length sums - 3))) :: IO (Either ArithException Int)
  let table = Map.fromListWith (+) [(n `mod` 7, n) | n <- numbers]
  print (sum sums, take 3 numbers, failed, Map.toList table)
