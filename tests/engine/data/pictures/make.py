# Makes the pictures of this folder: pip install pillow pillow-heif numpy tifffile imagecodecs. picture_formats_test.cpp holds the same formulas.
import os
import numpy as np
from PIL import Image
import pillow_heif, tifffile
pillow_heif.register_heif_opener()
O = os.path.dirname(os.path.abspath(__file__)) + '/'
W,H=13,9
y,x=np.mgrid[0:H,0:W]
rgb=np.stack([x*17+y,255-y*20-x,(x*y*3)%256],-1).astype(np.uint8)
a=(40+x*10+y*5).astype(np.uint8)
rgba=np.dstack([rgb,a])
grey=(x*15+y*7).astype(np.uint8)
im=Image.fromarray(rgb)
im.save(O+'colour.webp',lossless=True)
Image.fromarray(rgba).save(O+'alpha.webp',lossless=True,exact=True)
ex=Image.Exif(); ex[0x112]=6
im.save(O+'turned.webp',lossless=True,exif=ex)
im.save(O+'moving.webp',save_all=True,append_images=[Image.fromarray(255-rgb)],lossless=True)
Image.fromarray(grey).save(O+'grey.gif')
im.quantize(256).save(O+'colour.gif')
Image.fromarray(grey).save(O+'interlaced.gif',interlace=True)
Image.fromarray(grey).save(O+'moving.gif',save_all=True,append_images=[Image.fromarray(255-grey)])
im.save(O+'lzw.tif',compression='tiff_lzw')
Image.fromarray(rgba).save(O+'alpha.tif',compression='tiff_adobe_deflate')
im.quantize(256).save(O+'palette.tif')
im.convert('CMYK').save(O+'cmyk.tif')
ti=im.copy(); im.save(O+'turned.tif',tiffinfo={274:6})
tifffile.imwrite(O+'sixteen.tif',(grey.astype(np.uint16)*257+3))
tifffile.imwrite(O+'planes.tif',np.moveaxis(rgb,-1,0),photometric='rgb',planarconfig='separate')
tifffile.imwrite(O+'float.tif',(grey.astype(np.float32)/7-3))
tifffile.imwrite(O+'tiled.tif',rgb,photometric='rgb',tile=(16,16),compression='zlib')
im.save(O+'pages.tif',save_all=True,append_images=[im])
big=Image.fromarray(np.kron(rgb,np.ones((8,8,1),np.uint8)))
big.save(O+'phone.heic',quality=90); big.save(O+'new.avif',quality=90)
