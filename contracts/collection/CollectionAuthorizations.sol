// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {RequestNumber} from "../libraries/RequestNumber.sol";
import {CollectionContext} from "./CollectionContext.sol";

/// @title CollectionAuthorizations
/// @notice Checks a wallet's signed consent to one transfer or one burn. Each has its own type, so a signature for the
/// one is none for the other. The request number is the nonce. It is not stored here, because the relay runs each
/// number at most once.
abstract contract CollectionAuthorizations is CollectionContext, EIP712 {
    bytes32 private constant _TRANSFER_TYPEHASH = keccak256(
        "TransferAuthorization(address from,address to,uint256 tokenId,uint256 amount,uint256 number)"
    );
    bytes32 private constant _BURN_TYPEHASH = keccak256(
        "BurnAuthorization(address from,uint256 tokenId,uint256 amount,uint256 number)"
    );

    constructor() EIP712("Moneta", "1") {}

    /// @dev Reverts unless the caller is the relay and `from` signed exactly this transfer, together with the request
    /// number that the relay appended.
    function _checkTransferAuthorization(
        address from,
        address to,
        uint256 tokenId,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) internal view {
        _checkRelay();
        uint256 number = RequestNumber.fromCalldata();
        _checkSignature(
            from,
            keccak256(abi.encode(_TRANSFER_TYPEHASH, from, to, tokenId, amount, number)),
            number,
            r,
            vs
        );
    }

    /// @dev As {_checkTransferAuthorization}, for exactly this burn.
    function _checkBurnAuthorization(
        address from,
        uint256 tokenId,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) internal view {
        _checkRelay();
        uint256 number = RequestNumber.fromCalldata();
        _checkSignature(from, keccak256(abi.encode(_BURN_TYPEHASH, from, tokenId, amount, number)), number, r, vs);
    }

    /// @dev Reverts unless the wallet itself signed. Nobody else's signature counts, whatever the wallet approved.
    function _checkSignature(address from, bytes32 structHash, uint256 number, bytes32 r, bytes32 vs) private view {
        (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(_hashTypedDataV4(structHash), r, vs);
        if (problem != ECDSA.RecoverError.NoError || signer != from) {
            revert CollectionInvalidAuthorization(from, signer, number);
        }
    }
}
